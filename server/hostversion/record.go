package hostversion

import (
	"time"

	"github.com/starling-grid/starling/server/store"
)

const (
	// recent is the weight of the newest result in the error rate.
	recent = 0.1
	// bad is the error rate from which a host has a bad record: three failures in a row
	// of a host without any before, or more than one result in four in the long run.
	bad = 0.25
	// few is the maximum error rate of a reliable host: one result in twenty in the long run, or
	// seven valid results after a single failure.
	few = 0.05
)

// worse and better return the error rate after a failed or invalid result, and after a valid one. A
// new host has a rate of 0.
func worse(rate float64) float64  { return min(1, rate+recent*(1-rate)) }
func better(rate float64) float64 { return max(0, rate-recent*rate) }

// Bad reports whether the results of the host keep failing. Such a host gets no result whose
// failure would give its workunit up. It still gets others, within its quota, and with valid
// results its record becomes good again.
func Bad(h store.HostAppVersion) bool { return h.ErrorRate > bad }

// Returned counts a valid result that was reported after a time. The newest counts for a tenth, or
// for as much as the others while there are few.
func Returned(h store.HostAppVersion, after time.Duration) store.HostAppVersion {
	h.TurnaroundN++
	weight := max(recent, 1/float64(h.TurnaroundN))
	h.Turnaround += weight * (max(0, after.Seconds()) - h.Turnaround)
	return h
}

// Reliable reports whether the host is reliable: it had enough valid results, they are returned
// within turnaround on average (0: at any time), and few of the recent ones failed or were invalid.
//
// Source: BOINC sched/sched_send.cpp, get_reliability_version. Different here: errors count by
// their rate, not by what they did to the quota, and valid results of workunits of one result count
// too.
func Reliable(h store.HostAppVersion, turnaround time.Duration) bool {
	return h.TurnaroundN >= enough && h.ErrorRate <= few && (turnaround <= 0 || h.Turnaround <= turnaround.Seconds())
}
