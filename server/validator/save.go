package validator

import (
	"maps"
	"slices"
	"time"

	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/store"
)

// save stores the outcome of a look.
//
// Source for what follows from a check: BOINC sched/validator.cpp, handle_wu.
func (v *Validator) save(tx *store.Tx, earned *ledger, l *look, now time.Time) error {
	wu := l.wu
	tx.SetCause(now, "validator", l.why())
	wu.NeedValidate = false
	if l.retry > 0 && l.canonical == 0 && l.wu.CanonicalResultID == 0 {
		// One unreadable file may be the one that a quorum lacks, so all results are looked at
		// again. The transitioner sees results that were not validated and asks for it.
		wu.TransitionTime = earlier(wu.TransitionTime, now.Add(l.retry))
		return tx.SaveWorkunit(l.wu, wu)
	}
	claims, err := v.claims(tx.View, earned, l, now)
	if err != nil {
		return err
	}
	amount := wu.CanonicalCredit
	if wu.CanonicalResultID == 0 {
		amount = credit.Grant(slices.Collect(maps.Values(claims)))
	}
	viableNow, transition := 0, false
	for _, s := range l.samples {
		r := s.result
		switch s.verdict {
		case valid:
			if r.ValidateState != store.Valid {
				r.ValidateState, r.ClaimedCredit, r.GrantedCredit = store.Valid, claims[r.ID], amount
				if err := earned.grant(r, amount, now); err != nil {
					return err
				}
				err := earned.version(r, func(h store.HostAppVersion) store.HostAppVersion {
					h = hostversion.Valid(h, l.wu.MinQuorum > 1)
					h = hostversion.Returned(h, r.ReceivedTime.Sub(r.SentTime))
					return hostversion.Timed(h, r.ElapsedTime, wu.RscFpopsEst)
				})
				if err != nil {
					return err
				}
			}
			viableNow++
		case invalid:
			r.ValidateState = store.Invalid
			transition = true
			if err := earned.version(r, func(h store.HostAppVersion) store.HostAppVersion { return hostversion.Invalid(h, v.DailyQuota) }); err != nil {
				return err
			}
		case broken:
			r.Outcome, r.ValidateState = store.ValidateError, store.Invalid
			transition = true
			if err := earned.version(r, func(h store.HostAppVersion) store.HostAppVersion { return hostversion.Failed(h, v.DailyQuota) }); err != nil {
				return err
			}
		case undecided, suspicious:
			if r.ValidateState == store.ValidateInit {
				r.ValidateState = store.Inconclusive
			}
			viableNow++
		case retry:
			viableNow++
		}
		if r != s.result {
			if err := tx.SaveResult(s.result, r); err != nil {
				return err
			}
		}
	}
	v.conclude(&wu, l, amount, viableNow, transition, now)
	if l.canonical != 0 {
		if err := dismissUnsent(tx, l.results); err != nil {
			return err
		}
		v.Log.Debug("canonical result found", "workunit", wu.Name, "result_id", l.canonical)
	}
	return tx.SaveWorkunit(l.wu, wu)
}

// claims returns the credit that each valid result is worth on its own, by ID.
func (v *Validator) claims(tx *store.View, earned *ledger, l *look, now time.Time) (map[int64]float64, error) {
	out := make(map[int64]float64)
	for _, s := range l.samples {
		r := s.result
		if s.verdict != valid {
			continue
		}
		f := credit.Facts{Fixed: l.wu.Credit, FpopsEst: l.wu.RscFpopsEst, FpopsBound: l.wu.RscFpopsBound}
		if l.policy.ByRuntime() && f.Fixed == 0 {
			speeds, err := v.learnt(tx, now)
			if err != nil {
				return nil, err
			}
			if f.Benchmark, err = earned.benchmark(r); err != nil {
				return nil, err
			}
			f.Seconds, f.Version = r.ElapsedTime, speeds.Version(r.AppVersionID)
			if _, _, f.Anonymous = store.Anonymous(r.AppVersionID); f.Anonymous {
				f.Version = speeds.Group(hostversion.Group{AppID: r.AppID})
			}
		}
		out[r.ID] = l.policy.Claim(f)
	}
	return out, nil
}

// speedsAge is the maximum age of the learned run times of versions.
const speedsAge = time.Minute

// learnt returns the known run times of app versions.
func (v *Validator) learnt(tx *store.View, now time.Time) (*hostversion.Speeds, error) {
	if age := now.Sub(v.speedsAt); v.speeds != nil && age >= 0 && age < speedsAge {
		return v.speeds, nil
	}
	votes, err := tx.VersionVotes()
	if err != nil {
		return nil, err
	}
	v.speeds, v.speedsAt = hostversion.NewSpeeds(votes, nil), now
	return v.speeds, nil
}

// why returns the outcome of a look in words.
func (l *look) why() string {
	switch {
	case l.wu.CanonicalResultID != 0:
		return "compared with the canonical result"
	case l.canonical != 0 && l.doubted:
		return "a result was suspicious, and one of a trusted account decides"
	case l.canonical != 0:
		return "a canonical result was found"
	case l.retry > 0:
		return "outputs could not be compared now"
	case l.doubted:
		return "a result is suspicious"
	}
	return "no agreement yet"
}

// conclude determines the new state of the workunit.
func (v *Validator) conclude(wu *store.Workunit, l *look, amount float64, viableNow int, transition bool, now time.Time) {
	wu.Suspicious = wu.Suspicious || l.doubted
	switch {
	case l.wu.CanonicalResultID != 0:
		transition = true
	case l.canonical != 0:
		wu.CanonicalResultID, wu.CanonicalCredit = l.canonical, amount
		wu.AssimilateState = store.AssimilateReady
		// The assimilator makes it due again. Until then only deadlines matter, and the
		// transitioner checks those whenever it looks.
		wu.TransitionTime = earliestDeadline(l.results)
	case viableNow > wu.MaxSuccessResults:
		wu.ErrorMask |= store.ErrorTooManySuccesses
		transition = true
	case viableNow >= wu.TargetNResults:
		wu.TargetNResults = viableNow + 1
		transition = true
	}
	switch {
	case l.retry > 0 && l.canonical == 0:
		// Not at once, or the transitioner would ask for validation at once.
		wu.TransitionTime = earlier(wu.TransitionTime, now.Add(l.retry))
	case transition:
		wu.TransitionTime = earlier(wu.TransitionTime, now)
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// earliestDeadline returns when the transitioner has to look at results that
// are still out, or Never.
func earliestDeadline(results []store.Result) time.Time {
	at := store.Never
	for _, r := range results {
		if r.ServerState == store.InProgress && r.ReportDeadline.Before(at) {
			at = r.ReportDeadline
		}
	}
	return at
}

func dismissUnsent(tx *store.Tx, results []store.Result) error {
	for _, old := range results {
		if old.ServerState != store.Unsent && old.ServerState != store.Inactive {
			continue
		}
		r := old
		r.ServerState, r.Outcome = store.Over, store.DidntNeed
		if err := tx.SaveResult(old, r); err != nil {
			return err
		}
	}
	return nil
}
