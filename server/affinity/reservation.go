package affinity

import "time"

// Rules are the times for which the next workunit of a chain is reserved for the hosts that have
// the files. While such a host makes contact, the reservation is renewed, up to a time. When it is
// silent, the chain migrates.
type Rules struct {
	Most time.Duration // from the report of the result before
	// Silence is the time without a request after which a host no longer counts. If 0, only Most
	// counts.
	Silence time.Duration
	// Gone is a time for work that needs a file which was made on a host, and so cannot be
	// downloaded. If no host that has the file makes a request for that long, the work is given up.
	// 0 means never.
	Gone time.Duration
	// Copies: files that a task makes for the next one of its chain are always uploaded as well.
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

// Renewed returns the new end of a workunit's reservation, which was until, after a request at now
// from a host that has the files and reported the previous result at reported. renewed is false if
// that changes too little to be worth storing.
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
// seconds after it was reported. If others have to report one too, that may take days.
const (
	soon    = 3 * time.Second
	waitFor = time.Hour
)

// Next returns the time within which a host should make its next request. At reported it reported a
// result, and the workunit that follows it still waits for the outcome at now. The time is seconds
// at first, then longer and longer. 0 leaves the time to the host.
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

// Back returns the time within which a host with a reserved workunit should make its next request.
// 0 leaves the time to the host.
func (r Rules) Back() time.Duration { return r.Silence / 3 }
