package validator

import "github.com/starling-grid/starling/server/store"

// A verdict is the outcome of check for one result.
type verdict int

const (
	undecided verdict = iota // no quorum agrees yet
	valid
	invalid
	broken     // its output cannot be looked at, now or later
	retry      // its output could not be looked at this time
	suspicious // only a result of a trusted account decides whether it is right
)

// A sample is one result with its output as read by its comparator.
type sample struct {
	result  store.Result
	output  any
	err     error   // why output is not there
	verdict verdict // broken, retry, suspicious or undecided to begin with
}

// checkSet looks for a quorum of results that agree. The canonical result is the first that matches
// a strict majority of the quorum, itself included. Those that match it are valid and the rest
// invalid. It returns the index of the canonical result, or -1.
//
// Source: BOINC sched/validate_util2.cpp, generic_check_set.
func checkSet(samples []sample, quorum int, match func(a, b any) bool) int {
	good := 0
	for _, s := range samples {
		if s.verdict == undecided {
			good++
		}
	}
	if good < quorum {
		return -1
	}
	majority := quorum/2 + 1
	for i := range samples {
		if samples[i].verdict != undecided {
			continue
		}
		n := 0
		same := make([]bool, len(samples))
		for j := range samples {
			if samples[j].verdict != undecided {
				continue
			}
			if i == j || match(samples[i].output, samples[j].output) {
				same[j] = true
				n++
			}
		}
		if n < majority {
			continue
		}
		for j := range samples {
			if samples[j].verdict != undecided {
				continue
			}
			if samples[j].verdict = invalid; same[j] {
				samples[j].verdict = valid
			}
		}
		return i
	}
	return -1
}
