package workfetch

import (
	"math"
	"math/rand/v2"
	"time"
)

// Bounds of the wait after a request that brought no work.
//
// Source: BOINC client/work_fetch.h, WF_MIN_BACKOFF_INTERVAL and _MAX_.
const (
	backoffMin = 10 * time.Minute
	backoffMax = 24 * time.Hour
)

// wantMax is the longest wait for a project that is owed CPU time: one that has
// work now and then must be asked while it has.
const wantMax = 145 * time.Minute

// A Backoff is the wait before a project that had no work is asked again.
type Backoff struct {
	Failures int       // requests in a row that brought none
	NextTry  time.Time // none is made before
}

// Asked returns the state after a session that asked for work and brought got results that can be
// run. owed is set if the project is owed CPU time.
func (b Backoff) Asked(now time.Time, got int, owed bool, rng *rand.Rand) Backoff {
	if got > 0 {
		return Backoff{}
	}
	b.Failures++
	b.NextTry = now.Add(wait(b.Failures, owed, rng))
	return b
}

// wait returns the time before the next request after the n-th request in a row that brought no
// work, n from 1. It is 10 minutes doubled up to a day, times a random factor from [0.5, 1.5). For
// a project that is owed time it is doubled up to wantMax, times a factor from [0.75, 1).
func wait(n int, owed bool, rng *rand.Rand) time.Duration {
	d := math.Min(float64(backoffMin)*math.Exp2(float64(max(n, 1)-1)), float64(backoffMax))
	if owed && d > float64(wantMax) {
		return time.Duration(float64(wantMax) * (0.75 + rng.Float64()/4))
	}
	return time.Duration(d * (0.5 + rng.Float64()))
}
