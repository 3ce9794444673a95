package main

import (
	"math"
	"time"

	"github.com/starling-grid/starling/protocol/appipc"
)

// maxStep is the longest time between two looks that counts as computing. A longer time means that
// the host slept.
const maxStep = 10 * time.Second

// An estimate guesses the progress of a program that does not report it. With T the time that the
// project expects on this host, it is 1 − e^(−t/T): 63 % at T, always rising, and never all. A
// client that extrapolates from it is right at the start and never sees a task that is "done" but
// runs on.
type estimate struct {
	expected time.Duration // 0: unknown
	elapsed  time.Duration
	last     time.Time
}

// newEstimate returns the estimate of a program that does a share of the task.
func newEstimate(d appipc.InitData, share float64) *estimate {
	e := &estimate{last: time.Now()}
	if fpops := d.HostFPOPS(); fpops > 0 && d.RscFPOpsEst > 0 {
		e.expected = time.Duration(min(share*d.RscFPOpsEst/fpops*1e9, math.MaxInt64/2))
	}
	return e
}

// fraction returns the progress at a time, which must not be before the last call's. While
// suspended, time does not count.
func (e *estimate) fraction(now time.Time, suspended bool) float64 {
	step := now.Sub(e.last)
	e.last = now
	if !suspended && step > 0 && step <= maxStep {
		e.elapsed += step
	}
	if e.expected <= 0 {
		return 0
	}
	const most = 0.9999 // rounding must not make it 1
	return min(1-math.Exp(-e.elapsed.Seconds()/e.expected.Seconds()), most)
}
