// Package hostversion decides about a host's record with an app version: the number of results it
// may get a day, whether one result of it is enough, and whether it gets results that must not
// fail. It also records the times that results take there. Package speed has the formulas.
//
// The package is pure: it computes values from values. Scheduler, validator and transitioner store
// the outcome in host_app_version.
//
// Source: BOINC sched/sched_result.cpp, validator.cpp and transitioner.cpp for the quota,
// sched/sched_send.cpp for adaptive replication.
package hostversion

import (
	"math/rand/v2"

	"github.com/starling-grid/starling/server/store"
)

const (
	enough   = 10  // valid results after which a host is trusted
	mostJobs = 1e9 // per CPU and day
)

// Quota returns the number of results per CPU that the host may get today. quota is the project's
// daily_result_quota, with which a host begins. Each valid result adds one, so only hosts without
// enough valid results are ever kept from work.
func Quota(h store.HostAppVersion, quota int) int {
	if h.MaxJobsPerDay == 0 {
		return quota
	}
	return h.MaxJobsPerDay
}

// Sent counts a result that was sent.
func Sent(h store.HostAppVersion, quota int) store.HostAppVersion {
	h.NJobsToday++
	if quota > 0 {
		h.MaxJobsPerDay = Quota(h, quota)
	}
	return h
}

// Succeeded returns the record after a reported success: the quota of a host that recovers grows
// fast.
func Succeeded(h store.HostAppVersion, quota int) store.HostAppVersion {
	if h.MaxJobsPerDay > 0 && h.MaxJobsPerDay < quota {
		h.MaxJobsPerDay = min(2*h.MaxJobsPerDay, quota)
	}
	return h
}

// Failed returns the record after an error, a missing output file or a missed deadline.
func Failed(h store.HostAppVersion, quota int) store.HostAppVersion {
	h.ConsecutiveValid, h.ErrorRate = 0, worse(h.ErrorRate)
	if h.MaxJobsPerDay > 0 && quota > 0 {
		h.MaxJobsPerDay = max(1, min(h.MaxJobsPerDay, quota)-1)
	}
	return h
}

// Valid returns the record after a valid result. Only one that was compared with another host's
// increases trust.
func Valid(h store.HostAppVersion, replicated bool) store.HostAppVersion {
	h.ErrorRate = better(h.ErrorRate)
	if replicated {
		h.ConsecutiveValid++
	}
	if h.MaxJobsPerDay > 0 && h.MaxJobsPerDay < mostJobs {
		h.MaxJobsPerDay++
	}
	return h
}

// Invalid returns the record after a result that was outvoted.
func Invalid(h store.HostAppVersion, quota int) store.HostAppVersion {
	h.ConsecutiveValid, h.ErrorRate = 0, worse(h.ErrorRate)
	if h.MaxJobsPerDay > quota && quota > 0 {
		h.MaxJobsPerDay--
	}
	return h
}

// Trusted decides at random whether one result of the host is enough. A trusted host is still
// checked with probability 1/consecutive_valid, at random, so that the host cannot predict it.
func Trusted(h store.HostAppVersion, rng *rand.Rand) bool {
	return h.ConsecutiveValid >= enough && rng.Float64() >= 1/float64(h.ConsecutiveValid)
}
