package acctmgr

import (
	"math/rand/v2"
	"time"

	"github.com/starling-grid/starling/internal/backoff"
)

// When a manager is asked.
//
// Source: BOINC client/client_state.h and client/acct_mgr.cpp. The bounds on what a manager may
// choose are Starling's own.
const (
	Period    = 24 * time.Hour // unless the manager chooses another
	MinPeriod = time.Minute
	MaxPeriod = 30 * 24 * time.Hour

	minBackoff = 10 * time.Minute
	maxBackoff = 24 * time.Hour
)

// Succeeded returns the next time to ask a manager that chose a period, 0 for none.
func Succeeded(now time.Time, period time.Duration) time.Time {
	if period <= 0 {
		period = Period
	}
	return now.Add(min(max(period, MinPeriod), MaxPeriod))
}

// Failed returns the next time to ask a manager that gave no usable answer for the n-th time in a
// row.
func Failed(now time.Time, n int, rng *rand.Rand) time.Time {
	return now.Add(backoff.Delay(n-1, minBackoff, maxBackoff, rng))
}
