package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// Requests that wait are looked at together. Each gets its own answer: hosts get different results, a stranger is
// refused, new computers are added, and of two requests with one number the later one gets work, too.
func TestTray(t *testing.T) {
	w := newWorld(t)
	w.s.Config.ResendLostResults = false
	const hosts = 6
	w.addWork("a", 40)
	ask := func(ctx context.Context, host int64, i, seqno int, key protocol.Authenticator) (*protocol.SchedulerReply, error) {
		req := protocol.SchedulerRequest{
			Authenticator: key, HostID: host, RPCSeqno: int64(seqno), Client: protocol.Version{Major: 8, Minor: 2}, Platform: "x86_64-pc-linux-gnu", CPUReqSeconds: 1,
			Host: protocol.HostInfo{DomainName: fmt.Sprint("h", i), HostCPID: fmt.Sprint("h", i), NCPUs: 4, Fpops: 1e9, MemBytes: 8e9, DiskTotal: 1e12, DiskFree: 1e12},
		}
		return w.s.Handle(ctx, req.Encode(), "192.0.2.1", w.now)
	}
	var ids []int64
	for i := range hosts {
		reply, err := ask(t.Context(), 0, i, 1, w.User.Authenticator)
		must(t, err)
		ids = append(ids, reply.HostID)
	}
	waiting, pass := w.s.HoldTrays()
	var all sync.WaitGroup
	replies, errs := make([]*protocol.SchedulerReply, hosts+3), make([]error, hosts+3)
	for i := range replies {
		host, n, key := int64(0), i, w.User.Authenticator
		switch {
		case i < hosts:
			host = ids[i]
		case i == hosts: // the first computer again
			host, n = ids[0], 0
		case i == hosts+1:
			key = "nobody"
		}
		all.Go(func() { replies[i], errs[i] = ask(t.Context(), host, n, 2, key) })
	}
	testwait.Until(t, "all to wait", func() bool { return waiting() == len(replies) })
	pass()
	all.Wait()
	sent := make(map[string]bool)
	for i, r := range replies {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		for _, x := range r.Results {
			if sent[x.Name] {
				t.Errorf("%s is sent twice", x.Name)
			}
			sent[x.Name] = true
		}
		if stranger := i == hosts+1; (r.User == nil) != stranger || (len(r.Results) == 0) != stranger {
			t.Errorf("request %d: %d results, %s", i, len(r.Results), texts(r))
		}
		if newcomer := i == hosts+2; (r.HostID != 0) != newcomer {
			t.Errorf("request %d: new host %d", i, r.HostID)
		}
	}
	w.update(func(tx *store.Tx) error {
		for name := range sent {
			if x, err := tx.ResultByName(name); err != nil || x.ServerState != store.InProgress {
				t.Errorf("%s is %v, %v", name, x.ServerState, err)
			}
		}
		return nil
	})
	// A request ends when its client is gone, and gets no work, which the next one may have.
	decisions := 0
	w.s.Decided = func(match.Case, []match.Assignment) { decisions++ }
	waiting, pass = w.s.HoldTrays()
	gone, hangUp := context.WithCancel(t.Context())
	for i, ctx := range []context.Context{gone, t.Context()} {
		all.Go(func() {
			reply, err := ask(ctx, ids[i], i, 3, w.User.Authenticator)
			if wantErr := ctx == gone; errors.Is(err, context.Canceled) != wantErr || !wantErr && len(reply.Results) == 0 {
				t.Errorf("request %d: %v, %+v", i, err, reply)
			}
		})
	}
	testwait.Until(t, "both to wait", func() bool { return waiting() == 2 })
	hangUp()
	testwait.Until(t, "one to leave", func() bool { return waiting() == 1 })
	pass()
	all.Wait()
	if decisions != 1 {
		t.Errorf("%d decisions, want 1", decisions)
	}
	// Work that was leased to a request which panics is free again.
	w.s.Decided = func(match.Case, []match.Assignment) { panic("oh") }
	for range 20 {
		if _, err := ask(t.Context(), ids[2], 2, 4, w.User.Authenticator); err == nil || !strings.Contains(err.Error(), "oh") {
			t.Fatalf("got %v, want a panic as an error", err)
		}
	}
	w.s.Decided = nil
	if reply, err := ask(t.Context(), ids[2], 2, 4, w.User.Authenticator); err != nil || len(reply.Results) == 0 {
		t.Errorf("after panics: %v, %s", err, texts(reply))
	}
	// A database that fails is each request's error.
	waiting, pass = w.s.HoldTrays()
	must(t, w.store.Close())
	for i := range 3 {
		all.Go(func() {
			if _, err := ask(t.Context(), ids[i], i, 9, w.User.Authenticator); !errors.Is(err, store.ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
		})
	}
	testwait.Until(t, "all to wait", func() bool { return waiting() == 3 })
	pass()
	all.Wait()
}
