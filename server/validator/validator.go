// Package validator compares the results of a workunit and decides which are
// right. It chooses the canonical result and grants credit, everything about
// one workunit in one transaction.
//
// How outputs are compared is a Checker's business. The package neither
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

	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/store"
)

const (
	// again is how long a workunit waits that could not be checked. Each further
	// failure doubles it up to maxAgain, which is BOINC's delay.
	again    = 10 * time.Minute
	maxAgain = 6 * time.Hour
	// patience is after how much comparing the findings are stored: programs of a
	// project may take minutes for each workunit.
	patience = time.Second
)

// A Validator handles the workunits that need validation.
type Validator struct {
	Store *store.Store
	Log   *slog.Logger
	// Checker returns the checker of an application.
	Checker func(ctx context.Context, appID int64) (Checker, error)
	// Credit returns how an application rewards results; nil: by flops.
	Credit func(ctx context.Context, appID int64) (credit.Policy, error)
	// DailyQuota is how many results a CPU a good host may get a day.
	DailyQuota int
	// Clock tells how long comparing takes; nil: time.Now.
	Clock func() time.Time

	unstored  pass.Off // workunits that could not be stored
	unchecked pass.Off // workunits that could not be checked; their transition time says when they are due

	speeds   *hostversion.Speeds
	speedsAt time.Time
}

// Pass handles workunits that need validation, and returns how many. It is for
// one goroutine.
func (v *Validator) Pass(ctx context.Context, now time.Time) (int, error) {
	load := func(tx *store.View, after int64) ([]store.Job, int64, error) {
		return pass.Jobs(tx, (*store.View).NeedValidate, after, &v.unstored, now)
	}
	return pass.Each(ctx, v.Store, load, func(jobs []store.Job) (handled int, err error) {
		looks := make([]*look, len(jobs))
		for i, j := range jobs {
			looks[i] = &look{wu: j.Workunit, results: j.Results}
		}
		for len(looks) > 0 {
			n := v.checkSome(ctx, looks, now)
			if ctx.Err() != nil {
				return handled, context.Cause(ctx) // a check may have failed for that reason alone
			}
			kept, err := v.store(ctx, looks[:n], now)
			handled += kept
			if err != nil {
				return handled, err
			}
			looks = looks[n:]
		}
		return handled, nil
	})
}

// A look is what one workunit's check found, before it is stored.
type look struct {
	wu        store.Workunit
	results   []store.Result
	samples   []sample
	canonical int64         // id of the canonical result found now, 0 if none
	retry     time.Duration // some could not be checked; do it again after this time
	policy    credit.Policy
}

// checkSome reads and compares files, outside of a transaction, until all are
// checked or it is time to store what was found. It returns how many it checked.
func (v *Validator) checkSome(ctx context.Context, looks []*look, now time.Time) int {
	clock := v.Clock
	if clock == nil {
		clock = time.Now
	}
	begin := clock()
	for i, l := range looks {
		if l.wu.ErrorMask == 0 {
			v.check(ctx, l, now)
		}
		if clock().Sub(begin) > patience {
			return i + 1
		}
	}
	return len(looks)
}

// store stores what looks found, and returns for how many.
func (v *Validator) store(ctx context.Context, looks []*look, now time.Time) (int, error) {
	save := func(tx *store.Tx, looks []*look) error { return v.conclusions(tx, looks, now) }
	return pass.Save(ctx, v.Store, looks, save, func(l *look, err error) error {
		delay := v.unstored.Failed(l.wu.ID, now, again, again)
		v.Log.Error("can't validate", "workunit", l.wu.Name, "err", err, "retry_in", delay)
		return nil
	})
}

// conclusions stores what looks found of workunits that have not changed since. One
// that has still needs validation, and the next pass sees the change.
func (v *Validator) conclusions(tx *store.Tx, looks []*look, now time.Time) error {
	ids := make([]int64, 0, len(looks))
	for _, l := range looks {
		ids = append(ids, l.wu.ID)
	}
	earned, err := newLedger(tx, looks)
	if err != nil {
		return err
	}
	jobs, err := tx.Jobs(ids)
	if err != nil {
		return err
	}
	for _, l := range looks {
		switch j := jobs[l.wu.ID]; {
		case j.Workunit != l.wu || !slices.Equal(j.Results, l.results):
		case l.wu.ErrorMask != 0:
			err = dismiss(tx, l.wu, now)
		default:
			err = v.save(tx, earned, l, now)
		}
		if err != nil {
			return err
		}
	}
	return earned.save()
}

// dismiss leaves a workunit that was given up to the transitioner: an outcome
// that it found now would come beside the one that it has.
func dismiss(tx *store.Tx, old store.Workunit, now time.Time) error {
	wu := old
	wu.NeedValidate = false
	wu.TransitionTime = earlier(wu.TransitionTime, now)
	tx.SetCause(now, "validator", "the workunit was given up")
	return tx.SaveWorkunit(old, wu)
}

// check fills in the verdicts.
func (v *Validator) check(ctx context.Context, l *look, now time.Time) {
	v.unstored.Done(l.wu.ID)
	c := Case{Workunit: l.wu}
	for i, r := range l.results {
		switch {
		case r.ID == l.wu.CanonicalResultID:
			c.Canonical = &l.results[i]
		case l.wu.CanonicalResultID != 0 && waiting(r), l.wu.CanonicalResultID == 0 && viable(r):
			c.Results = append(c.Results, r)
		}
	}
	f, err := v.find(ctx, c)
	if err == nil && v.Credit != nil {
		l.policy, err = v.Credit(ctx, l.wu.AppID)
	}
	if err == nil && len(f.Verdicts) != len(c.Results) {
		err = fmt.Errorf("%d verdicts on %d results", len(f.Verdicts), len(c.Results))
	}
	unread := false
	switch {
	case err != nil:
		v.Log.Error("can't validate", "workunit", l.wu.Name, "err", err)
		unread = true
	default:
		for i, r := range c.Results {
			s := sample{result: r, verdict: f.Verdicts[i].verdict}
			switch reason := f.Verdicts[i].reason; s.verdict {
			case broken:
				v.Log.Info("result cannot be validated", "result", r.Name, "reason", reason)
			case retry:
				unread = true
				v.Log.Error("can't read output", "result", r.Name, "err", reason)
			}
			l.samples = append(l.samples, s)
		}
		if f.Canonical >= 0 {
			l.canonical = c.Results[f.Canonical].ID
		}
	}
	if !unread || l.canonical != 0 {
		v.unchecked.Done(l.wu.ID)
	}
	if unread {
		l.retry = v.unchecked.Failed(l.wu.ID, now, again, maxAgain)
	}
}

func (v *Validator) find(ctx context.Context, c Case) (Findings, error) {
	if c.Workunit.CanonicalResultID != 0 && c.Canonical == nil {
		return Findings{}, errors.New("its canonical result is gone")
	}
	checker, err := v.Checker(ctx, c.Workunit.AppID)
	if err != nil {
		return Findings{}, err
	}
	return checker.Check(ctx, c)
}

// waiting reports whether a result has yet to be compared.
func waiting(r store.Result) bool {
	return r.ServerState == store.Over && r.Outcome == store.Success &&
		(r.ValidateState == store.ValidateInit || r.ValidateState == store.Inconclusive)
}

// viable reports whether a result may become part of a quorum. What was not compared when
// the workunit was given up may not, unless it was revived with it.
func viable(r store.Result) bool {
	return r.ServerState == store.Over && r.Outcome == store.Success && r.ValidateState != store.Invalid && r.ValidateState != store.NoCheck
}
