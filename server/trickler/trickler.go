// Package trickler hands trickle-up messages, which running applications send,
// to the programs that the project has for them. Messages of applications
// without one are kept, and are handled when there is one.
//
// Messages are stored by the scheduler. As with assimilators, that one was
// handled is recorded after its program has ended, so that after a crash in
// between the program sees it again.
package trickler

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/store"
)

const (
	// again is the time that a message waits if its Handler failed. Each further failure doubles
	// it, up to maxAgain.
	again    = time.Minute
	maxAgain = 6 * time.Hour
)

// A Handler takes one message. If it returns an error, it gets the message again later. Other
// messages do not wait for it.
type Handler interface {
	Handle(ctx context.Context, m store.MsgFromHost) error
}

// A Trickler handles messages.
type Trickler struct {
	Store *store.Store
	Log   *slog.Logger
	// Handler returns the handler of an application.
	Handler func(ctx context.Context, appID int64) (Handler, error)

	off      pass.Off // messages whose handler failed
	hung     pass.Off // applications whose handler hangs
	troubles pass.Troubles
}

// Pass handles messages that wait, and returns how many. It is for one
// goroutine.
func (t *Trickler) Pass(ctx context.Context, now time.Time) (int, error) {
	if err := t.troubles.Answer(ctx, t.Store, "trickler", &t.off, &t.hung); err != nil {
		return 0, err
	}
	clock := pass.Clock(now)
	load := func(tx *store.View, after int64) (list []store.MsgFromHost, last int64, err error) {
		if list, err = tx.MsgsToHandle(after, pass.Batch); err == nil && len(list) > 0 {
			last = list[len(list)-1].ID
		}
		return list, last, err
	}
	handled, err := pass.Each(ctx, t.Store, load, func(list []store.MsgFromHost) (handled int, err error) {
		for _, m := range list {
			if !t.off.Due(m.ID, clock()) || !t.hung.Due(m.AppID, clock()) {
				continue
			}
			switch err := t.hand(ctx, m); {
			case err == nil:
				t.off.Done(m.ID, m.AppID)
				err := t.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.MsgHandled(m.ID) })
				if err != nil && !errors.Is(err, store.ErrLost) {
					return handled, err
				}
				handled++
			case ctx.Err() != nil || pass.OfDatabase(err):
				return handled, err
			default:
				t.hung.Hung(m.AppID, err, clock())
				delay := t.off.Failed(m.ID, m.AppID, err, clock(), again, maxAgain)
				t.Log.Error("can't handle trickle-up message", "msg_from_host_id", m.ID, "result", m.ResultName, "err", err, "retry_in", delay)
			}
			if err := t.troubles.Soon(ctx, t.Store, "trickler", clock(), &t.off); err != nil {
				return handled, err
			}
		}
		return handled, nil
	})
	if err == nil {
		err = t.troubles.Save(ctx, t.Store, "trickler", now, &t.off)
	}
	return handled, err
}

func (t *Trickler) hand(ctx context.Context, m store.MsgFromHost) error {
	h, err := t.Handler(ctx, m.AppID)
	if err != nil {
		return err
	}
	return h.Handle(ctx, m)
}
