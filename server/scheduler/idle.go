package scheduler

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/demand"
	"github.com/starling-grid/starling/server/store"
)

// passingReasons are the reasons for a reply without work that new work may end.
var passingReasons = []protocol.RefusalCode{protocol.RefusedNoTasks, protocol.RefusedHasOne, protocol.RefusedReserved, protocol.RefusedChain}

// awaitWork arranges that a host comes back in time if it is idle because there is no work for it.
// It may wait for work, or it is called back, the sooner the less time has passed since there was
// work. An operator's next_rpc_delay has precedence.
func (r *rpc) awaitWork() {
	if len(r.reply.sent) > 0 || len(r.reply.Results) > 0 || r.host.ID == 0 || !r.wantsWork() {
		return
	}
	idle := r.s.Idle
	if idle != nil {
		r.reply.WorkEvents = idle.Offer(r.s.Config.EventsURL, r.now)
	}
	if r.s.Config.NextRPCDelay > 0 || idle != nil && idle.Waits(r.host.ID) {
		return
	}
	if len(r.reply.Refusals) == 0 || slices.ContainsFunc(r.reply.Refusals, func(f protocol.Refusal) bool { return !slices.Contains(passingReasons, f.Code) }) {
		return
	}
	var last time.Time
	if idle != nil {
		last = idle.Lately()
	}
	if sent := r.s.sentLast.Load(); sent > last.UnixNano() || last.IsZero() {
		last = time.Unix(0, sent)
	}
	want := demand.Wait(max(0, r.now.Sub(last)))
	if silence := r.s.Config.Affinity.Silence.Duration(); silence > 0 && silence < time.Hour && r.refusedFor(protocol.RefusedReserved) {
		want = max(want, silence) // work reserved for a host that is gone is free then
	}
	r.callBack(r.s.calls.Next(r.now, want))
}

func (r *rpc) refusedFor(c protocol.RefusalCode) bool {
	return slices.ContainsFunc(r.reply.Refusals, func(f protocol.Refusal) bool { return f.Code == c })
}

// Admit reports whether a host may wait for work: it is of the account that has the key, and neither
// is excluded.
func (s *Scheduler) Admit(ctx context.Context, key protocol.Authenticator, host int64) (ok bool, err error) {
	err = s.Store.View(ctx, func(tx *store.View) error {
		u, err := byKey(tx, key)
		if err != nil {
			return err
		}
		h, err := tx.Host(host)
		ok = err == nil && h.UserID == u.ID && !u.Banned() && h.MaxResultsDay >= 0
		return err
	})
	if errors.Is(err, errStranger) || errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return ok, err
}
