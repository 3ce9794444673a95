// Package boottime measures time by a clock that runs while the computer sleeps, and that cannot be
// set.
package boottime

import (
	"sync/atomic"
	"time"
)

// A Time is a moment by that clock. Times can be compared only within one process.
type Time time.Duration

// Sub returns the time between two moments.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

var (
	start = time.Now()
	slept atomic.Int64 // nanoseconds since some moment
)

// Now returns the current moment. ok reports whether sleep is included.
//
// It adds the computer's sleep to the monotonic clock of package time, so that it also measures the
// made-up time of package synctest.
func Now() (t Time, ok bool) {
	d, ok := sleep()
	if was := slept.Load(); (d - time.Duration(was)).Abs() > precision { // else it is an error of measurement
		slept.CompareAndSwap(was, int64(d))
	}
	return Time(time.Since(start) + time.Duration(slept.Load())), ok
}

// precision is the least sleep that is noticed.
const precision = time.Second
