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

	"github.com/starling-grid/starling/server/store"
)

const (
	batch = 100
	// again is how long a message waits whose Handler failed. Each further
	// failure doubles it, up to maxAgain.
	again    = time.Minute
	maxAgain = 6 * time.Hour
)

// A Handler takes one message. If it returns an error, the message comes again
// later; others do not wait for it.
type Handler interface {
	Handle(ctx context.Context, m store.MsgFromHost) error
}

// A Trickler handles messages.
type Trickler struct {
	Store *store.Store
	Log   *slog.Logger
	// Handler returns the handler of an application.
	Handler func(appID int64) (Handler, error)

	later map[int64]wait // of messages whose handler failed; a restart forgets it
}

// A wait says when to try again, after how long.
type wait struct {
	until time.Time
	delay time.Duration
}

// Pass handles messages that wait, and returns how many. It is for one
// goroutine.
func (t *Trickler) Pass(ctx context.Context, now time.Time) (int, error) {
	handled := 0
	for after := int64(0); ; {
		var list []store.MsgFromHost
		err := t.Store.View(ctx, func(tx *store.Tx) (err error) {
			list, err = tx.MsgsToHandle(after, batch)
			return err
		})
		if err != nil || len(list) == 0 {
			return handled, err
		}
		for _, m := range list {
			after = m.ID
			if now.Before(t.later[m.ID].until) {
				continue
			}
			if err := t.hand(ctx, m); err != nil {
				if ctx.Err() != nil {
					return handled, err
				}
				t.putOff(m, now, err)
				continue
			}
			delete(t.later, m.ID)
			err := t.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.MsgHandled(m.ID) })
			if err != nil && !errors.Is(err, store.ErrLost) {
				return handled, err
			}
			handled++
		}
	}
}

func (t *Trickler) hand(ctx context.Context, m store.MsgFromHost) error {
	h, err := t.Handler(m.AppID)
	if err != nil {
		return err
	}
	return h.Handle(ctx, m)
}

func (t *Trickler) putOff(m store.MsgFromHost, now time.Time, err error) {
	if t.later == nil {
		t.later = make(map[int64]wait)
	}
	delay := min(max(again, 2*t.later[m.ID].delay), maxAgain)
	t.later[m.ID] = wait{now.Add(delay), delay}
	t.Log.Error("can't handle trickle-up message", "msg_from_host_id", m.ID, "result", m.ResultName, "err", err, "retry_in", delay)
}
