package affinity

import "time"

// Rules say for how long the next workunit of a chain is reserved for the hosts that have
// the files. While such a host is heard of, the reservation is renewed, up to a time; when
// it is silent, the chain migrates.
type Rules struct {
	Most time.Duration // from the report of the result before
	// Silence is after how long without a request a host no longer counts; 0: Most alone
	// counts.
	Silence time.Duration
	// Gone is after how long without a request of any host that has a file which was made
	// there, and so cannot be downloaded, the work is given up that needs it; 0: never.
	Gone time.Duration
	// Copies: what a task makes for the next one of its chain is always uploaded as well.
	Copies bool
}

// First returns until when a workunit is reserved that comes after one whose outcome is
// known at now.
func (r Rules) First(now time.Time) time.Time {
	if r.Silence > 0 {
		return now.Add(min(r.Most, r.Silence))
	}
	return now.Add(r.Most)
}

// Renewed returns until when a workunit is reserved that is so until a time, after a host
// was heard of at now which has the files and reported the result before at reported.
// renewed is false if that changes too little to be worth storing.
func (r Rules) Renewed(until, reported, now time.Time) (_ time.Time, renewed bool) {
	if r.Silence <= 0 {
		return until, false
	}
	next := now.Add(r.Silence)
	if most := reported.Add(r.Most); next.After(most) {
		next = most
	}
	if next.Sub(until) < r.Silence/8 || !next.After(now) {
		return until, false
	}
	return next, true
}

// Copy reports whether a host that makes a request at now is to upload the files which it made
// for a workunit that is kept for it, so that others can compute that too: always, or if it is
// slow. Then it has reported the result before at reported, long ago, and does not take the
// workunit now either, which sent would be.
func (r Rules) Copy(reported, now time.Time, sent bool) bool {
	patience := r.Most
	if r.Silence > 0 {
		patience = min(r.Most, r.Silence)
	}
	return r.Copies || !sent && !now.Before(reported.Add(patience))
}

// Bounds of the wait for the next workunit of a chain. The validator has usually judged a result
// seconds after it was reported; where others have to report one too, that may take days.
const (
	soon    = 3 * time.Second
	waitFor = time.Hour
)

// Next returns within which time a host is to make its next request at now that reported the result
// at reported after which a workunit comes that still waits for its outcome: within seconds at first,
// then ever more rarely; 0: when it likes.
func (r Rules) Next(reported, now time.Time) time.Duration {
	passed := max(0, now.Sub(reported))
	if back := r.Back(); back > 0 {
		return min(max(soon, passed), max(soon, back))
	}
	if passed >= waitFor {
		return 0
	}
	return max(soon, passed)
}

// Back returns within which time a host is to make its next request for whom a workunit is
// reserved; 0: when it likes.
func (r Rules) Back() time.Duration { return r.Silence / 3 }
