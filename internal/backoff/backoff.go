// Package backoff computes how long to wait after failures. It keeps no state. Callers store the
// count of failures and the time of the next attempt.
package backoff

import (
	"math"
	"math/rand/v2"
	"time"
)

// Delay returns least·2^n, at most most, times a random factor from [0.5, 1).
//
// Source: BOINC client/client_state.cpp, calculate_exponential_backoff.
func Delay(n int, least, most time.Duration, rng *rand.Rand) time.Duration {
	d := min(float64(least)*math.Exp2(float64(max(n, 0))), float64(most))
	return time.Duration(d * (0.5 + rng.Float64()/2))
}
