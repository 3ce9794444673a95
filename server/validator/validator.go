// Package validator compares the results of a workunit and decides which are
// right. It chooses the canonical result and grants credit, everything about
// one workunit in one transaction.
//
// How outputs are compared is a Comparator's business. The package neither
// makes further results when there is no agreement (it raises the target, and
// the transitioner does) nor moves files.
package validator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/starling-grid/starling/server/store"
)

const (
	batch = 100
	// again is how long a workunit waits whose output could not be read.
	again = 10 * time.Minute
)

// A Validator handles the workunits that need validation.
type Validator struct {
	Store *store.Store
	Log   *slog.Logger
	// Comparator returns the comparator of an application.
	Comparator func(appID int64) (Comparator, error)
	// DailyQuota is how many results a CPU a good host may get a day.
	DailyQuota int

	later map[int64]time.Time // workunits whose output could not be read, and when to try again
}

// Pass handles workunits that need validation, and returns how many. It is for
// one goroutine.
func (v *Validator) Pass(ctx context.Context, now time.Time) (int, error) {
	handled := 0
	for after := int64(0); ; {
		var ids []int64
		err := v.Store.View(ctx, func(tx *store.Tx) (err error) {
			ids, err = tx.NeedValidate(after, batch)
			return err
		})
		if err != nil || len(ids) == 0 {
			return handled, err
		}
		for _, id := range ids {
			if now.Before(v.later[id]) {
				continue
			}
			if err := v.one(ctx, id, now); err != nil {
				if ctx.Err() != nil {
					return handled, err
				}
				v.Log.Error("can't validate", "workunit_id", id, "err", err, "retry_in", again)
				v.putOff(id, now)
				continue
			}
			handled++
		}
		after = ids[len(ids)-1]
	}
}

// A look is what one workunit's check found, before it is stored.
type look struct {
	wu        store.Workunit
	results   []store.Result
	samples   []sample
	canonical int64 // id of the canonical result found now, 0 if none
	retry     bool
}

// one reads and compares files outside of a transaction, then stores what came
// of it if nothing has changed meanwhile.
func (v *Validator) one(ctx context.Context, id int64, now time.Time) error {
	var l look
	err := v.Store.View(ctx, func(tx *store.Tx) (err error) {
		if l.wu, err = tx.Workunit(id); err == nil {
			l.results, err = tx.ResultsOf(id)
		}
		return err
	})
	if err != nil {
		return err
	}
	if !l.wu.NeedValidate {
		return nil
	}
	if l.wu.ErrorMask != 0 {
		return v.dismiss(ctx, l.wu, now)
	}
	cmp, err := v.Comparator(l.wu.AppID)
	if err != nil {
		v.Log.Error("can't validate", "workunit", l.wu.Name, "err", err)
		l.retry = true
	} else {
		v.compare(&l, cmp)
	}
	if delete(v.later, id); l.retry {
		v.putOff(id, now)
	}
	err = v.Store.Update(ctx, func(tx *store.Tx) error {
		// The same results as before, or this look is void: the workunit still
		// needs validation, and the next pass sees the change.
		results, err := tx.ResultsOf(id)
		if err != nil {
			return err
		}
		if !slices.Equal(results, l.results) {
			return store.ErrLost
		}
		return v.save(tx, &l, now)
	})
	if errors.Is(err, store.ErrLost) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("validate workunit %s: %w", l.wu.Name, err)
	}
	return nil
}

// dismiss leaves a workunit that was given up to the transitioner: an outcome
// that it found now would come beside the one that it has.
func (v *Validator) dismiss(ctx context.Context, old store.Workunit, now time.Time) error {
	wu := old
	wu.NeedValidate = false
	if now.Before(wu.TransitionTime) {
		wu.TransitionTime = now
	}
	err := v.Store.Update(ctx, func(tx *store.Tx) error { return tx.SaveWorkunit(old, wu) })
	if errors.Is(err, store.ErrLost) {
		return nil
	}
	return err
}

// putOff leaves a workunit alone for a while.
func (v *Validator) putOff(id int64, now time.Time) {
	if v.later == nil {
		v.later = make(map[int64]time.Time)
	}
	v.later[id] = now.Add(again)
}

// compare fills in the verdicts.
func (v *Validator) compare(l *look, cmp Comparator) {
	load := func(r store.Result) sample {
		s := sample{result: r}
		var err error
		switch s.output, err = cmp.Load(r); {
		case errors.Is(err, ErrOutput):
			s.verdict = broken
			v.Log.Info("result cannot be validated", "result", r.Name, "reason", err)
		case err != nil:
			s.verdict = retry
			l.retry = true
			v.Log.Error("can't read output", "result", r.Name, "err", err)
		}
		return s
	}
	if l.wu.CanonicalResultID != 0 {
		i := slices.IndexFunc(l.results, func(r store.Result) bool { return r.ID == l.wu.CanonicalResultID })
		if i < 0 {
			v.Log.Error("canonical result is gone", "workunit", l.wu.Name)
			return
		}
		canonical := load(l.results[i])
		if canonical.verdict != undecided {
			l.retry = true
			return
		}
		for _, r := range l.results {
			if !waiting(r) || r.ID == l.wu.CanonicalResultID {
				continue
			}
			s := load(r)
			if s.verdict == undecided {
				if s.verdict = invalid; cmp.Match(canonical.output, s.output) {
					s.verdict = valid
				}
			}
			l.samples = append(l.samples, s)
		}
		return
	}
	for _, r := range l.results {
		if viable(r) {
			l.samples = append(l.samples, load(r))
		}
	}
	if i := checkSet(l.samples, l.wu.MinQuorum, cmp.Match); i >= 0 {
		l.canonical = l.samples[i].result.ID
	}
}

// waiting reports whether a result has yet to be compared.
func waiting(r store.Result) bool {
	return r.ServerState == store.Over && r.Outcome == store.Success &&
		(r.ValidateState == store.ValidateInit || r.ValidateState == store.Inconclusive)
}

// viable reports whether a result may become part of a quorum.
func viable(r store.Result) bool {
	return r.ServerState == store.Over && r.Outcome == store.Success && r.ValidateState != store.Invalid
}
