package jobsched

import "time"

// An Estimator learns the real computing times of a project's results, relative to the times that
// its server states. The zero value has no data. It is a value that can be stored.
type Estimator struct {
	Results int     `json:"results,omitempty"` // finished results it has seen
	Ratio   float64 `json:"ratio,omitempty"`   // actual over stated computing time, meaningless without results
}

// Finished learns from a finished result, ratio being its actual over its stated
// computing time: up at once, down slowly, since a queue that is too long does
// more harm than one that is too short.
//
// Source: BOINC client/project.cpp, update_duration_correction_factor.
func (e Estimator) Finished(ratio float64) Estimator {
	if ratio <= 0 {
		return e
	}
	if e.Results == 0 || ratio > e.Ratio*1.1 {
		e.Ratio = ratio
	} else {
		e.Ratio += (ratio - e.Ratio) / 10
	}
	e.Results++
	return e
}

// Restated returns the estimator after the server has divided the times that it states by factor,
// above 0. Real computing times do not change by that.
func (e Estimator) Restated(factor float64) Estimator {
	if e.Results == 0 {
		return e
	}
	e.Ratio = min(max(e.Ratio*factor, 1e-12), 1e12) // sums of times do not overflow
	return e
}

// Correction returns the factor for stated computing times. Before the first result is finished, it
// is running: the ratio by the progress of the running results, or 0 if there is none.
func (e Estimator) Correction(running float64) float64 {
	if e.Results > 0 {
		return e.Ratio
	}
	return max(running, 1)
}

// Remaining returns the computing time that a result has left, given its estimate as a whole, the
// time it has run and its reported progress. The progress counts the more the further it is. An
// overrun counts early.
func Remaining(estimate, elapsed time.Duration, fraction float64) time.Duration {
	if fraction <= 0 || elapsed <= 0 {
		return max(estimate-elapsed, estimate/20)
	}
	fraction = min(fraction, 1)
	static, dynamic := estimate.Seconds(), elapsed.Seconds()/fraction
	total := fraction*dynamic + (1-fraction)*static
	if dynamic > static {
		trust := min(1, 10*fraction)
		total = max(total, trust*dynamic+(1-trust)*static)
	}
	left := max(total-elapsed.Seconds(), total*(1-fraction)/2)
	return time.Duration(left * float64(time.Second))
}

// Guess returns the progress, below 1, of a task that does not report it. It is half at the
// estimated time, always rises, and never reaches the end.
//
// Source: BOINC client/app.cpp, ACTIVE_TASK::fraction done of applications that report none.
func Guess(elapsed, estimated time.Duration) float64 {
	if elapsed <= 0 || estimated <= 0 {
		return 0
	}
	x := elapsed.Seconds() / estimated.Seconds()
	return min(x/(x+1), 0.99)
}
