// Package assimilator hands the outcome of each workunit to the project, once
// it has a canonical result or was given up.
//
// A Handler may be called again for a workunit after a crash and must bring
// about the same then; the package records that a workunit is assimilated only
// after its Handler has returned. It deletes nothing.
package assimilator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/starling-grid/starling/server/store"
)

const (
	batch = 100
	// again is how long a workunit waits whose Handler failed. Each further
	// failure doubles it, up to maxAgain.
	again    = time.Minute
	maxAgain = 6 * time.Hour
)

// A Handler takes the outcome of a workunit. canonical is nil if it was given
// up; wu.ErrorMask tells why then. A Handler that returns an error is called
// again later.
type Handler interface {
	Assimilate(ctx context.Context, wu store.Workunit, results []store.Result, canonical *store.Result) error
}

// An Assimilator handles the workunits that are ready.
type Assimilator struct {
	Store *store.Store
	Log   *slog.Logger
	// Handler returns the handler of an application.
	Handler func(appID int64) (Handler, error)

	later map[int64]wait // of workunits whose handler failed; a restart forgets it
}

// A wait says when to try again, after how long.
type wait struct {
	until time.Time
	delay time.Duration
}

// Pass handles workunits that are ready, and returns how many. It is for one
// goroutine.
func (a *Assimilator) Pass(ctx context.Context, now time.Time) (int, error) {
	handled := 0
	for after := int64(0); ; {
		var ids []int64
		err := a.Store.View(ctx, func(tx *store.Tx) (err error) {
			ids, err = tx.ToAssimilate(after, batch)
			return err
		})
		if err != nil || len(ids) == 0 {
			return handled, err
		}
		var done []int64
		for _, id := range ids {
			if now.Before(a.later[id].until) {
				continue
			}
			if err := a.hand(ctx, id); err != nil {
				if ctx.Err() != nil {
					// Stopped: what was taken before is recorded all the same.
					return handled, errors.Join(context.Cause(ctx), a.record(context.WithoutCancel(ctx), done, now))
				}
				a.putOff(id, now, err)
				continue
			}
			delete(a.later, id)
			done = append(done, id)
		}
		if err := a.record(ctx, done, now); err != nil {
			return handled, err
		}
		handled += len(done)
		after = ids[len(ids)-1]
	}
}

func (a *Assimilator) putOff(id int64, now time.Time, err error) {
	if a.later == nil {
		a.later = make(map[int64]wait)
	}
	delay := min(max(again, 2*a.later[id].delay), maxAgain)
	a.later[id] = wait{now.Add(delay), delay}
	a.Log.Error("can't assimilate", "workunit_id", id, "err", err, "retry_in", delay)
}

// hand gives one workunit to its handler.
func (a *Assimilator) hand(ctx context.Context, id int64) error {
	var wu store.Workunit
	var results []store.Result
	err := a.Store.View(ctx, func(tx *store.Tx) (err error) {
		if wu, err = tx.Workunit(id); err == nil {
			results, err = tx.ResultsOf(id)
		}
		return err
	})
	if err != nil {
		return err
	}
	var canonical *store.Result
	for i := range results {
		if results[i].ID == wu.CanonicalResultID {
			canonical = &results[i]
		}
	}
	if canonical == nil && wu.ErrorMask == 0 {
		wu.ErrorMask = store.ErrorNoCanonical
	}
	h, err := a.Handler(wu.AppID)
	if err != nil {
		return err
	}
	if err := h.Assimilate(ctx, wu, results, canonical); err != nil {
		return fmt.Errorf("workunit %s: %w", wu.Name, err)
	}
	return nil
}

// record marks workunits as assimilated and sends them back to the transitioner.
func (a *Assimilator) record(ctx context.Context, ids []int64, now time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	return a.Store.Update(ctx, func(tx *store.Tx) error {
		tx.Because(now, "assimilator", "the project has taken its outcome")
		for _, id := range ids {
			old, err := tx.Workunit(id)
			if err != nil {
				return err
			}
			if old.AssimilateState != store.AssimilateReady {
				continue
			}
			wu := old
			wu.AssimilateState, wu.TransitionTime = store.AssimilateDone, now
			if wu.CanonicalResultID == 0 && wu.ErrorMask == 0 {
				wu.ErrorMask = store.ErrorNoCanonical
			}
			if err := tx.SaveWorkunit(old, wu); err != nil && !errors.Is(err, store.ErrLost) {
				return err
			}
		}
		return nil
	})
}
