package scheduler

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/starling-grid/starling/server/store"
)

const (
	maxTray = 64 // requests
	maxRead = 2  // trays at a time
)

// Trays collect requests that arrive while others are looked at. A tray is looked at in one transaction, with one
// query for all of its requests where the database has one. The first request of a tray does that for the others.
type trays struct {
	mu      sync.Mutex
	running int
	waiting []*seat
}

// A seat is the place of a request that waits.
type seat struct {
	r    *rpc
	next chan []*seat // the tray that it is to look at, or nil if it was looked at
}

// prepare looks at a request, together with others. Then the request has all its data, or it is rare. If its client
// is gone, the error is the cause of ctx.
func (s *Scheduler) prepare(ctx context.Context, r *rpc) error {
	t := &s.trays
	me := &seat{r, make(chan []*seat, 1)}
	t.mu.Lock()
	tray := []*seat{me}
	if t.running < maxRead {
		t.running++
	} else {
		t.waiting = append(t.waiting, me)
		tray = nil
	}
	t.mu.Unlock()
	if tray == nil {
		select {
		case tray = <-me.next:
		case <-ctx.Done():
			if t.leave(me) {
				return context.Cause(ctx)
			}
			tray = <-me.next
		}
	}
	if tray != nil {
		defer t.pass()
		s.lookAt(context.WithoutCancel(ctx), tray)
		for _, other := range tray[1:] {
			other.next <- nil
		}
	}
	if r.err == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return r.err
}

// leave ends the waiting of a request. It returns false if the request is in a tray already.
func (t *trays) leave(s *seat) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting, s)
	if i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	return i >= 0
}

// pass makes the first request that waits look at the next tray.
func (t *trays) pass() {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := min(len(t.waiting), maxTray)
	if n == 0 {
		t.running--
		return
	}
	tray := slices.Clone(t.waiting[:n])
	t.waiting = slices.Delete(t.waiting, 0, n)
	tray[0].next <- tray
}

// lookAt looks at the requests of a tray, or at each of them alone if that fails. While the database cannot be
// reached, they would only wait for it one after the other.
func (s *Scheduler) lookAt(ctx context.Context, tray []*seat) {
	requests := make([]*rpc, len(tray))
	for i, t := range tray {
		requests[i] = t.r
	}
	err := s.Store.View(ctx, func(v *store.View) error {
		return guarded(requests[0], func(*rpc) error {
			for _, r := range requests {
				r.reset()
			}
			return s.look(v, requests)
		})
	})
	switch {
	case err == nil:
	case len(tray) == 1 || errors.Is(err, store.ErrUnreachable) || errors.Is(err, store.ErrClosed):
		for _, r := range requests {
			r.err = err
		}
	default:
		for i := range tray {
			s.lookAt(ctx, tray[i:i+1])
		}
	}
}

// each calls do for the requests without an error. An error of do ends that request only.
func each(list []*rpc, do func(*rpc) error) {
	for _, r := range list {
		if r.err == nil {
			r.err = guarded(r, do)
		}
	}
}

// guarded makes an error of a panic, so that other requests get their answers, and leased work becomes free again.
func guarded(r *rpc, do func(*rpc) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a request of host %d: %v\n%s", r.req.HostID, p, debug.Stack())
		}
	}()
	return do(r)
}
