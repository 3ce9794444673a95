// Package contact decides when a project's servers may be contacted, and when
// finished results must be reported. It is policy: values in, values out.
package contact

import (
	"math/rand/v2"
	"time"

	"github.com/starling-grid/starling/internal/backoff"
)

// Constants of the conversation with a project.
//
// Source: BOINC client/scheduler_op.h and client/client_state.h.
const (
	RetryDelayMin       = time.Minute
	RetryDelayMax       = 4 * time.Hour
	RetryCap            = 10
	MasterFetchPeriod   = 10
	MasterFetchRetryCap = 3
	// MasterFetchInterval is a quarter of BOINC's: a project that is back after
	// days is found within hours, at the price of three requests a day more.
	MasterFetchInterval = 6 * time.Hour
	MaxRequestDelay     = 28 * 24 * time.Hour // more than any server means
	// MinInterval is the minimum time between two contacts, no matter what a server asks for.
	// Without it, a server that acknowledges nothing would be contacted endlessly.
	MinInterval = 5 * time.Second
)

// A State determines when a project may be contacted again. The functions below take one and return
// the next. The caller saves it.
type State struct {
	Failures       int       `json:"failures,omitempty"`        // of scheduler RPCs since the last success or master fetch
	MasterFailures int       `json:"master_failures,omitempty"` // of master fetches since the last success
	FetchMaster    bool      `json:"fetch_master,omitempty"`
	MinRPCTime     time.Time `json:"min_rpc_time,omitzero"` // no contact before
	// New: the project was attached less than NewFor ago, and no scheduler of it has
	// answered yet.
	New bool `json:"new,omitempty"`
}

// NewFor is the time for which a project that has never answered is tried at the intervals of
// firstWaits. A volunteer who attaches a project during an outage of minutes is watching it.
// BOINC's client waits for a day after three attempts.
const NewFor = 24 * time.Hour

// firstWaits are the waits after the first failures in a row. The last one is used for all later
// failures. Each is shortened at random by up to a quarter, so that many agents that attach at once
// do not return at once.
var firstWaits = []time.Duration{
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour,
}

func firstWait(failures int, rng *rand.Rand) time.Duration {
	wait := firstWaits[min(max(failures, 1), len(firstWaits))-1]
	return time.Duration(float64(wait) * (0.75 + rng.Float64()/4))
}

// Failed returns the state after a session in which no scheduler answered. After MasterFetchPeriod
// of them the master page is fetched again, at once: the schedulers may have moved.
func (c State) Failed(now time.Time, rng *rand.Rand) State {
	c.Failures++
	if c.Failures >= MasterFetchPeriod {
		c.Failures = 0
		c.FetchMaster = true
		c.MinRPCTime = time.Time{}
		return c
	}
	wait := backoff.Delay(min(c.Failures, RetryCap), RetryDelayMin, RetryDelayMax, rng)
	if c.New {
		wait = firstWait(c.Failures, rng)
	}
	c.MinRPCTime = now.Add(wait)
	return c
}

// MasterFailed returns the state after a master page that could not be fetched or named no
// scheduler.
func (c State) MasterFailed(now time.Time, rng *rand.Rand) State {
	c.MasterFailures++
	c.FetchMaster = true
	wait := MasterFetchInterval
	switch {
	case c.New:
		wait = firstWait(c.MasterFailures, rng)
	case c.MasterFailures < MasterFetchRetryCap:
		wait = backoff.Delay(c.MasterFailures, RetryDelayMin, RetryDelayMax, rng)
	}
	c.MinRPCTime = now.Add(wait)
	return c
}

// MasterFetched returns the state after the master page was read. New scheduler URLs clear all
// failures.
func (c State) MasterFetched(newURLs bool) State {
	c.FetchMaster, c.MasterFailures = false, 0
	if newURLs {
		c.Failures = 0
		c.MinRPCTime = time.Time{}
	}
	return c
}

// Succeeded returns the state after a reply that asked for requestDelay.
func (c State) Succeeded(now time.Time, requestDelay time.Duration) State {
	c.Failures, c.MasterFailures = 0, 0
	c.MinRPCTime = now.Add(max(MinInterval, min(requestDelay, MaxRequestDelay)))
	return c
}
