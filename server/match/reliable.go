package match

import (
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/store"
)

// firstRefusal is the time that an urgent result waits for a reliable host. After that any host may
// have it. Otherwise it would wait forever in a project without reliable hosts.
const firstRefusal = 24 * time.Hour

// Urgent defines which results are urgent and which hosts are reliable enough for them. The names
// are the ones from BOINC's config.xml.
type Urgent struct {
	OnPriority        int64         // results of this priority and above are urgent (0: none)
	MaxAvgTurnaround  time.Duration // maximum for a reliable host (0: any)
	MaxErrorRate      float64       // of a reliable host
	ReducedDelayBound float64       // factor for the delay bound of an urgent result (0: unchanged)
}

func (u *Urgent) is(c *store.Candidate) bool { return u.OnPriority > 0 && c.Priority >= u.OnPriority }

func (u *Urgent) reliable(e store.HostAppVersion) bool {
	return hostversion.Reliable(e, u.MaxAvgTurnaround, u.MaxErrorRate)
}

// unreliable returns the reason if the host's record with an app version is not good enough for a
// candidate, or nil. A candidate that is for this host alone does not wait for a better one.
func (m *Match) unreliable(c *store.Candidate, v *store.AppVersion) *Lack {
	u := &m.facts.Rules.Urgent
	if !c.Target.Alone() && u.is(c) && !m.facts.Now.After(c.CreateTime.Add(firstRefusal)) && !u.reliable(m.standing.Earned[v.ID]) {
		return &Lack{Code: protocol.RefusedUnreliable}
	}
	return m.failing(c, v)
}

// failing returns the reason if the host's results of an app version keep failing and a candidate
// must not fail because it is urgent or the last chance of its workunit. Otherwise it returns nil.
//
// A candidate that is for this host alone may fail: no other host may have it, so it would wait
// forever.
//
// Different from BOINC, where a bad record lowers the daily quota and has no other effect.
func (m *Match) failing(c *store.Candidate, v *store.AppVersion) *Lack {
	if c.Target.Alone() {
		return nil
	}
	if (c.LastChance || m.facts.Rules.Urgent.is(c)) && hostversion.Bad(m.standing.Earned[v.ID]) {
		return &Lack{Code: protocol.RefusedUnreliable}
	}
	return nil
}

// within returns the time that the host has to report a candidate that takes d. An urgent one has
// less time, but twice d if its delay bound allows that.
//
// Source: BOINC sched/sched_send.cpp, get_delay_bound_range. Different here: the time for twice the
// duration has no other bound than the workunit's own.
func (m *Match) within(c *store.Candidate, d time.Duration) time.Duration {
	u := &m.facts.Rules.Urgent
	if !u.is(c) || u.ReducedDelayBound <= 0 || u.ReducedDelayBound >= 1 {
		return c.DelayBound
	}
	reduced := time.Duration(float64(c.DelayBound) * u.ReducedDelayBound)
	return min(c.DelayBound, max(reduced, 2*d))
}
