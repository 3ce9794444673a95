package match

import (
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/store"
)

// firstRefusal is how long an urgent result waits for a reliable host. Then any may have
// it, or it would wait for ever where no host is reliable.
const firstRefusal = 24 * time.Hour

// Urgent says which results are urgent and which hosts are reliable enough for them. The
// names are those of BOINC's config.xml.
type Urgent struct {
	OnPriority        int64         // results of this priority and above are urgent; 0: none is
	MaxAvgTurnaround  time.Duration // of a reliable host; 0: any
	MaxErrorRate      float64       // of a reliable host
	ReducedDelayBound float64       // what the delay bound of an urgent result is multiplied with; 0: nothing
}

func (u *Urgent) is(c *store.Candidate) bool { return u.OnPriority > 0 && c.Priority >= u.OnPriority }

func (u *Urgent) reliable(e store.HostAppVersion) bool {
	return hostversion.Reliable(e, u.MaxAvgTurnaround, u.MaxErrorRate)
}

// unreliable returns what is missing if the host's record with an app version is not good
// enough for a candidate. One that is for this host alone does not wait for a better one.
func (m *Match) unreliable(c *store.Candidate, v *store.AppVersion) *Lack {
	u := &m.facts.Rules.Urgent
	if !c.Target.Alone() && u.is(c) && !m.facts.Now.After(c.CreateTime.Add(firstRefusal)) && !u.reliable(m.standing.Earned[v.ID]) {
		return &Lack{Code: protocol.RefusedUnreliable}
	}
	return m.failing(c, v)
}

// failing returns what is missing if the host's results of an app version keep failing and
// a candidate must not fail: it is urgent, or the last chance of its workunit.
//
// One that is for this host alone may fail: nobody else may have it, and it would wait for ever.
//
// Different from BOINC, where a bad record lowers the daily quota and nothing else.
func (m *Match) failing(c *store.Candidate, v *store.AppVersion) *Lack {
	if c.Target.Alone() {
		return nil
	}
	if (c.LastChance || m.facts.Rules.Urgent.is(c)) && hostversion.Bad(m.standing.Earned[v.ID]) {
		return &Lack{Code: protocol.RefusedUnreliable}
	}
	return nil
}

// within returns how long the host has to report a candidate that takes d. An urgent one
// has less time, but twice what it takes if its delay bound allows that.
//
// Source: BOINC sched/sched_send.cpp, get_delay_bound_range. Different here: the time for
// twice the duration has no other bound than the workunit's own.
func (m *Match) within(c *store.Candidate, d time.Duration) time.Duration {
	u := &m.facts.Rules.Urgent
	if !u.is(c) || u.ReducedDelayBound <= 0 || u.ReducedDelayBound >= 1 {
		return c.DelayBound
	}
	reduced := time.Duration(float64(c.DelayBound) * u.ReducedDelayBound)
	return min(c.DelayBound, max(reduced, 2*d))
}
