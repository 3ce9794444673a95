// Package hostversion decides what a host has earned with an app version: how
// many results it may get a day, whether one result of it is enough, and whether it gets
// results that must not fail. It also says
// what is learnt of how long results take there; package speed has the formulas.
//
// It is pure: values in, values out. Scheduler, validator and transitioner store
// what comes of it in host_app_version.
//
// Source: BOINC sched/sched_result.cpp, validator.cpp and transitioner.cpp for
// the quota, sched/sched_send.cpp for adaptive replication.
package hostversion

import (
	"math/rand/v2"

	"github.com/starling-grid/starling/server/store"
)

// enough is how many valid results earn trust.
const enough = 10

// Quota returns how many results a CPU the host may get today; quota is the
// project's daily_result_quota.
func Quota(h store.HostAppVersion, quota int) int {
	if h.MaxJobsPerDay == 0 {
		return quota
	}
	return min(h.MaxJobsPerDay, quota)
}

// Sent counts a result that was sent.
func Sent(h store.HostAppVersion, quota int) store.HostAppVersion {
	h.NJobsToday++
	if quota > 0 {
		h.MaxJobsPerDay = Quota(h, quota)
	}
	return h
}

// Succeeded returns what follows from a success that is reported: the quota of a
// host that recovers grows fast.
func Succeeded(h store.HostAppVersion, quota int) store.HostAppVersion {
	if h.MaxJobsPerDay > 0 && quota > 0 {
		h.MaxJobsPerDay = min(2*h.MaxJobsPerDay, quota)
	}
	return h
}

// Failed returns what follows from an error, from output that is not there and
// from a deadline that has passed.
func Failed(h store.HostAppVersion) store.HostAppVersion {
	h.ConsecutiveValid, h.ErrorRate = 0, worse(h.ErrorRate)
	if h.MaxJobsPerDay > 0 {
		h.MaxJobsPerDay = max(1, h.MaxJobsPerDay-1)
	}
	return h
}

// Valid returns what follows from a valid result. Only one that was compared with
// another host's earns trust.
func Valid(h store.HostAppVersion, replicated bool, quota int) store.HostAppVersion {
	h.ErrorRate = better(h.ErrorRate)
	if replicated {
		h.ConsecutiveValid++
	}
	if h.MaxJobsPerDay > 0 && h.MaxJobsPerDay < quota {
		h.MaxJobsPerDay++
	}
	return h
}

// Invalid returns what follows from a result that was outvoted.
func Invalid(h store.HostAppVersion) store.HostAppVersion {
	h.ConsecutiveValid, h.ErrorRate = 0, worse(h.ErrorRate)
	return h
}

// Trusted draws whether one result of the host will do. A host that is trusted is
// checked all the same with probability 1/consecutive_valid, at random, so that it
// cannot know when.
func Trusted(h store.HostAppVersion, rng *rand.Rand) bool {
	return h.ConsecutiveValid >= enough && rng.Float64() >= 1/float64(h.ConsecutiveValid)
}
