package match

import (
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/setting"
	"github.com/starling-grid/starling/server/store"
)

// firstRefusal is the time that an urgent result waits for a reliable host, and the last chance of a
// workunit for a host without a bad record. After that any host may have it. Otherwise it would wait forever
// in a project without such hosts.
const firstRefusal = 24 * time.Hour

// Urgent defines which results are urgent and which hosts are reliable enough for them. The names
// are the ones from BOINC's config.xml.
type Urgent struct {
	OnPriority        int64           `toml:"reliable_on_priority"`
	PriorityOnOver    int64           `toml:"reliable_priority_on_over"`
	BatchEnd          int             `toml:"reliable_batch_end"`
	MaxAvgTurnaround  setting.Seconds `toml:"reliable_max_avg_turnaround"`
	ReducedDelayBound float64         `toml:"reliable_reduced_delay_bound"`
}

// Keys describes the settings.
func (u *Urgent) Keys() []setting.Key {
	return []setting.Key{
		setting.Number(&u.OnPriority, 0, 1e9,
			`Results of this priority and above are urgent. 0: none. During the first 24 hours they are
			sent to reliable computers only.`),
		setting.Number(&u.PriorityOnOver, 0, 1e9,
			`Added to the priority of a result that replaces one that failed, was late or disagreed with the
			others.`),
		setting.Number(&u.BatchEnd, 100, 1e6,
			`The last results of a batch become urgent: the ones of its last tenth, and of at most this many
			workunits. 0: never. This needs reliable_on_priority.`),
		setting.Number(&u.MaxAvgTurnaround, 0, 100*86400,
			`Seconds within which a reliable computer returns results on average. 0: any time. It must also have
			had 10 valid results of the app version, and few recent errors.`),
		setting.Number(&u.ReducedDelayBound, 0.5, 1,
			`The fraction of the delay bound within which an urgent result must be reported, but at least twice
			its estimated run time. 0: the whole delay bound.`),
	}
}

// urgent reports whether a candidate is urgent.
func (u *Urgent) urgent(c *store.Candidate) bool {
	return u.OnPriority > 0 && c.Priority >= u.OnPriority
}

func (u *Urgent) reliable(e store.HostAppVersion) bool {
	return hostversion.Reliable(e, u.MaxAvgTurnaround.Duration())
}

// unreliable returns the reason if the host's record with an app version is not good enough for a
// candidate, or nil. A candidate that is for this host alone does not wait for a better one.
func (m *Match) unreliable(c *store.Candidate, v *store.AppVersion) *Lack {
	u := &m.facts.Rules.Urgent
	if !c.Target.Alone() && u.urgent(c) && !m.waited(c) && !u.reliable(m.standing.Earned[v.ID]) {
		return &Lack{Code: protocol.RefusedUnreliable}
	}
	return m.failing(c, v)
}

// waited reports whether a candidate has waited long enough for a good host.
func (m *Match) waited(c *store.Candidate) bool {
	return m.facts.Now.After(c.CreateTime.Add(firstRefusal))
}

// failing returns the reason if the host's results of an app version keep failing and a candidate
// must not fail because it is urgent or the last chance of its workunit. Otherwise it returns nil.
//
// A candidate that is for this host alone may fail: no other host may have it, so it would wait
// forever.
//
// Different from BOINC, where a bad record lowers the daily quota and has no other effect.
func (m *Match) failing(c *store.Candidate, v *store.AppVersion) *Lack {
	if c.Target.Alone() || m.waited(c) {
		return nil
	}
	if (c.LastChance || m.facts.Rules.urgent(c)) && hostversion.Bad(m.standing.Earned[v.ID]) {
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
	if !u.urgent(c) || u.ReducedDelayBound <= 0 || u.ReducedDelayBound >= 1 {
		return c.DelayBound
	}
	reduced := time.Duration(float64(c.DelayBound) * u.ReducedDelayBound)
	return min(c.DelayBound, max(reduced, 2*d))
}
