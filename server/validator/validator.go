// Package validator compares the results of a workunit and decides which are right. It chooses the
// canonical result and grants credit, everything about one workunit in one transaction.
//
// A Checker compares the outputs. If there is no agreement, the package raises the target, and the
// transitioner makes further results. The package does not move files.
package validator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/setting"
	"github.com/starling-grid/starling/server/store"
)

const (
	// again is the time that a workunit waits if it could not be checked. Each further failure
	// doubles it up to maxAgain, which is BOINC's delay.
	again    = 10 * time.Minute
	maxAgain = 6 * time.Hour
	// patience is the time of comparing after which the findings are stored: programs of a project
	// may take minutes for each workunit.
	patience = time.Second
)

// A Validator handles the workunits that need validation.
type Validator struct {
	Store *store.Store
	Log   *slog.Logger
	// Checker returns the checker of an application.
	Checker func(ctx context.Context, appID int64) (Checker, error)
	// Credit returns an application's policy for rewarding results. If nil, they are rewarded by
	// flops.
	Credit func(ctx context.Context, appID int64) (credit.Policy, error)
	// DailyQuota is the project's daily_result_quota.
	DailyQuota int
	Settings
	// Stored is called when something was stored while programs still run. It may be nil.
	Stored func()
	// Clock is used to measure the time of comparisons. If nil, time.Now is used.
	Clock func() time.Time

	unstored  pass.Off // workunits that could not be stored
	unchecked pass.Off // workunits that could not be checked (their transition time is when they are due)
	hung      pass.Off // applications whose program hangs
	troubles  pass.Troubles

	speeds   *hostversion.Speeds
	speedsAt time.Time
}

// Settings are the validator's settings.
type Settings struct {
	AtOnce int `toml:"validators_at_once"`
}

// Keys describes the settings.
func (s *Settings) Keys() []setting.Key {
	return []setting.Key{
		setting.Number(&s.AtOnce, 0, 1000,
			`Programs of validators (exec:CMD) that run at the same time. 0: one for each processor.`),
	}
}

// Pass processes workunits that need validation, and returns their number. It is for one goroutine.
//
// While programs run, Pass also processes workunits that start to need validation: a slow program
// delays its own workunit only.
func (v *Validator) Pass(ctx context.Context, now time.Time) (handled int, err error) {
	if err := v.troubles.Answer(ctx, v.Store, "validator", &v.unchecked, &v.unstored, &v.hung); err != nil {
		return 0, err
	}
	p := newPool(cmp.Or(v.AtOnce, runtime.GOMAXPROCS(0)), v.ask)
	ctx, cancel := context.WithCancel(ctx)
	defer p.drain()
	defer cancel()
	begin := v.clock()
	for {
		at := now.Add(v.clock().Sub(begin))
		load := func(tx *store.View, after int64) ([]store.Job, int64, error) {
			jobs, last, err := pass.Jobs(tx, store.NeedValidate, after, &v.unstored, at)
			return slices.DeleteFunc(jobs, func(j store.Job) bool { return p.running[j.Workunit.ID] }), last, err
		}
		n, err := pass.Each(ctx, v.Store, load, func(jobs []store.Job) (int, error) { return v.handle(ctx, p, jobs, at) })
		if err == nil && len(p.running) > 0 {
			var ended int
			ended, err = v.handle(ctx, p, nil, at)
			n += ended
		}
		handled += n
		if err == nil {
			err = v.troubles.Save(ctx, v.Store, "validator", at, &v.unchecked, &v.unstored)
		}
		if err != nil || len(p.running) == 0 {
			return handled, err
		}
		if n > 0 && v.Stored != nil {
			v.Stored()
		}
	}
}

func (v *Validator) clock() time.Time {
	if v.Clock != nil {
		return v.Clock()
	}
	return time.Now()
}

// A look has the outcome of one workunit's check, before it is stored.
type look struct {
	wu      store.Workunit
	results []store.Result

	checker  Checker
	of       Case
	findings Findings
	doubted  bool  // a result of it is or was suspicious
	err      error // why it could not be checked

	samples   []sample
	canonical int64         // id of the canonical result found now, 0 if none
	retry     time.Duration // time until a retry, if some could not be checked
	policy    credit.Policy
}

// handle checks workunits outside of a transaction and stores their looks at least once per
// patience. It returns the number stored. Workunits that programs still check stay in the pool.
func (v *Validator) handle(ctx context.Context, p *pool, jobs []store.Job, now time.Time) (handled int, err error) {
	var found []*look
	known := make(map[int64]terms) // by application, until something is stored
	begin, clock := v.clock(), pass.Clock(now)
	save := func() error {
		n, err := v.keep(ctx, found, now)
		handled += n
		found, begin = nil, v.clock()
		clear(known)
		if err == nil {
			err = v.troubles.Soon(ctx, v.Store, "validator", clock(), &v.unchecked, &v.unstored)
		}
		return err
	}
	take := func(l *look) {
		found = append(found, l)
		v.hung.Hung(l.wu.AppID, l.err, clock())
	}
	for _, j := range jobs {
		l := &look{wu: j.Workunit, results: j.Results}
		if l.wu.ErrorMask == 0 {
			t, ok := known[l.wu.AppID]
			if !ok {
				t = v.terms(ctx, l.wu.AppID)
				known[l.wu.AppID] = t
			}
			v.prepare(l, t)
		}
		switch l.checker.(type) {
		case nil:
			found = append(found, l)
		case program:
			for v.hung.Due(l.wu.AppID, clock()) && !p.start(ctx, l) {
				if done := p.next(patience); done != nil {
					take(done)
				} else if err := save(); err != nil {
					return handled, err
				}
			}
		default:
			v.ask(ctx, l)
			found = append(found, l)
		}
		if v.clock().Sub(begin) > patience {
			if err := save(); err != nil {
				return handled, err
			}
		}
	}
	for until := time.Now().Add(patience); ; {
		done := p.next(time.Until(until))
		if done == nil {
			return handled, save()
		}
		take(done)
	}
}

// keep judges and stores looks, in the order of their workunits, and returns the number stored.
func (v *Validator) keep(ctx context.Context, looks []*look, now time.Time) (int, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx) // a check may have failed for that reason alone
	}
	if len(looks) == 0 {
		return 0, nil
	}
	for _, l := range looks {
		if pass.OfDatabase(l.err) {
			return 0, l.err
		}
	}
	slices.SortFunc(looks, func(a, b *look) int { return cmp.Compare(a.wu.ID, b.wu.ID) })
	for _, l := range looks {
		if l.wu.ErrorMask == 0 {
			v.judge(l, now)
		}
	}
	return v.store(ctx, looks, now)
}

// store saves the outcomes of looks, and returns the number saved.
func (v *Validator) store(ctx context.Context, looks []*look, now time.Time) (int, error) {
	save := func(tx *store.Tx, looks []*look) error { return v.conclusions(tx, looks, now) }
	return pass.Save(ctx, v.Store, looks, save, func(l *look, err error) error {
		delay := v.unstored.Failed(l.wu.ID, l.wu.AppID, err, now, again, again)
		v.Log.Error("can't validate", "workunit", l.wu.Name, "err", err, "retry_in", delay)
		return nil
	})
}

// conclusions stores the outcomes for workunits that have not changed since they were looked at. A
// workunit that has changed still needs validation, and the next pass sees the change.
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

// dismiss leaves a workunit that was given up to the transitioner. An outcome found now would be a
// second one.
func dismiss(tx *store.Tx, old store.Workunit, now time.Time) error {
	wu := old
	wu.NeedValidate = false
	wu.TransitionTime = earlier(wu.TransitionTime, now)
	tx.SetCause(now, "validator", "the workunit was given up")
	return tx.SaveWorkunit(old, wu)
}

// terms are how an application's results are checked and rewarded.
type terms struct {
	checker Checker
	policy  credit.Policy
	err     error // why they are not known
}

func (v *Validator) terms(ctx context.Context, app int64) (t terms) {
	if v.Credit != nil {
		if t.policy, t.err = v.Credit(ctx, app); t.err != nil {
			return t
		}
	}
	t.checker, t.err = v.Checker(ctx, app)
	return t
}

// prepare chooses the results to check and the checker.
func (v *Validator) prepare(l *look, t terms) {
	v.unstored.Done(l.wu.ID, l.wu.AppID)
	l.of = Case{Workunit: l.wu}
	for i, r := range l.results {
		switch {
		case r.ID == l.wu.CanonicalResultID:
			l.of.Canonical = &l.results[i]
		case l.wu.CanonicalResultID != 0 && waiting(r), l.wu.CanonicalResultID == 0 && viable(r):
			l.of.Results = append(l.of.Results, r)
		}
	}
	if l.wu.CanonicalResultID != 0 && l.of.Canonical == nil {
		l.err = errors.New("its canonical result is gone")
		return
	}
	if l.policy, l.err = t.policy, t.err; l.err == nil {
		l.checker = t.checker
	}
}

// ask has the results compared.
func (v *Validator) ask(ctx context.Context, l *look) {
	if l.wu.Suspicious && l.of.Canonical == nil {
		l.doubted = true
		l.findings = Findings{Verdicts: make([]Verdict, len(l.of.Results)), Canonical: -1}
		l.err = l.lastWord(ctx, v.Store)
		return
	}
	l.findings, l.err = l.checker.Check(ctx, l.of)
	if n := len(l.findings.Verdicts); l.err == nil && n != len(l.of.Results) {
		l.err = fmt.Errorf("%d verdicts on %d results", n, len(l.of.Results))
	}
	if l.err == nil && slices.ContainsFunc(l.findings.Verdicts, func(v Verdict) bool { return v.verdict == suspicious }) {
		l.doubted = true
		l.err = l.lastWord(ctx, v.Store)
	}
}

// judge fills in the verdicts.
func (v *Validator) judge(l *look, now time.Time) {
	unread := l.err
	switch {
	case l.err != nil:
		v.Log.Error("can't validate", "workunit", l.wu.Name, "err", l.err)
	default:
		for i, r := range l.of.Results {
			s := sample{result: r, verdict: l.findings.Verdicts[i].verdict}
			switch reason := l.findings.Verdicts[i].reason; s.verdict {
			case broken:
				v.Log.Info("result cannot be validated", "result", r.Name, "reason", reason)
			case retry:
				unread = reason
				v.Log.Error("can't read output", "result", r.Name, "err", reason)
			}
			l.samples = append(l.samples, s)
		}
		if l.findings.Canonical >= 0 {
			l.canonical = l.of.Results[l.findings.Canonical].ID
		}
	}
	if unread == nil || l.canonical != 0 {
		v.unchecked.Done(l.wu.ID, l.wu.AppID)
	}
	if unread != nil {
		l.retry = v.unchecked.Failed(l.wu.ID, l.wu.AppID, unread, now, again, maxAgain)
	}
}

// waiting reports whether a result has yet to be compared.
func waiting(r store.Result) bool {
	return r.ServerState == store.Over && r.Outcome == store.Success &&
		(r.ValidateState == store.ValidateInit || r.ValidateState == store.Inconclusive)
}

// viable reports whether a result may become part of a quorum. A result that was not compared when
// the workunit was given up may not, unless it was revived with it.
func viable(r store.Result) bool {
	return r.ServerState == store.Over && r.Outcome == store.Success && r.ValidateState != store.Invalid && r.ValidateState != store.NoCheck
}
