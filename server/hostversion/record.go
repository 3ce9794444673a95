package hostversion

import "github.com/starling-grid/starling/server/store"

const (
	// recent is how much the newest result counts in the error rate.
	recent = 0.1
	// bad is the error rate from which a host has a bad record: three failures in a row
	// of a host without any before, or more than one result in four in the long run.
	bad = 0.25
)

// worse and better return the error rate after a result that was no good, and after one
// that is valid. A rate of 0 is what a host begins with.
func worse(rate float64) float64  { return min(1, rate+recent*(1-rate)) }
func better(rate float64) float64 { return max(0, rate-recent*rate) }

// Bad reports whether the results of the host keep failing, so that it gets none that
// gives its workunit up if it fails. It gets others still, within its quota, and with
// valid results its record is good again.
func Bad(h store.HostAppVersion) bool { return h.ErrorRate > bad }
