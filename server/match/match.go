// Package match decides which work a host may have: which of the available results are sent to it,
// with which app version, and why the others are not.
//
// The package is pure: it computes values from values. It uses no database, no clock, no log and no
// randomness. The scheduler gathers the facts, calls this package, and stores and encodes the
// decision.
//
// The decision is made one candidate at a time, through the methods of feeder.Want: Kind, More,
// Fits, Fit, Take. The results that were found are decided on once more by a second Match, with the
// commitments of their workunits, and together with results that are kept for the host. Its method
// Assign processes a list in the same steps, so that there is only one decision procedure.
package match

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

const (
	mega = 1 << 20
	giga = 1 << 30
)

// A Standing has a host's tasks and record at the time when it is given work, after its reports are
// processed.
type Standing struct {
	// InProgress is the number of results that the host is computing, by plan class (or
	// AnonymousClass of store). It is used only if Rules limits these.
	InProgress map[string]int
	// Earned has the host's record with each app version, by version. It is not changed.
	Earned map[int64]store.HostAppVersion
	// Had has the workunits from which the host, or its user, may not have another result. The
	// method Match.Had adds more.
	Had map[int64]bool
	// Beside has the applications that need little CPU time and of which the host already has a
	// result.
	Beside map[int64]bool
}

// A Match fills one request. It belongs to one goroutine.
type Match struct {
	*Host
	standing Standing

	room     int                         // results that it may still get
	limit    map[string]int              // and of these, on each kind of processor (absent: any number)
	demands  map[string]*demand          // by kind of processor
	disk     float64                     // bytes that the host allows, less the results taken
	taken    map[int64]*store.AppVersion // version that computes the results taken, by workunit
	today    map[int64]int               // results taken, by app version
	had      map[int64]bool
	assigned []Assignment

	refusals []protocol.Refusal
	tooSmall []store.Candidate
	told     bool // why kinds are of no use was noted before
}

// An Assignment is a result that the host is to get.
type Assignment struct {
	store.Candidate
	Version *store.AppVersion
	Usage   Usage
	// Duration is the time that the result takes on this host, including the time in which the host
	// is off or may not compute.
	Duration time.Duration
	// Within is the time from sending the result to its deadline on the host, at most the delay
	// bound of the workunit.
	Within time.Duration
	// Cost is the amount charged to its application: seconds of CPUs, at least one each, over the application's weight.
	// A second on coprocessors counts for as many as the host's CPUs would need by its benchmark.
	Cost float64
}

// Match begins to fill the request of a host.
func (h *Host) Match(s Standing) *Match {
	m := &Match{Host: h, standing: s, had: s.Had}
	m.room, m.limit = m.roomAtFirst()
	m.empty()
	return m
}

// empty begins a reply.
func (m *Match) empty() {
	m.demands, m.disk = m.asked(), m.limits.disk
	m.taken, m.today, m.assigned = make(map[int64]*store.AppVersion), make(map[int64]int), nil
}

// Full reports whether the request is filled, or a limit is met.
func (m *Match) Full() bool {
	return m.room <= len(m.assigned) || !m.wantsAny()
}

// Assign processes candidates in order until the request is filled, and returns the results that
// the host gets. If accept is not nil, it has the last word on each: a candidate that it does not
// accept is refused as RefusedOther, and a later candidate may be assigned instead.
func (m *Match) Assign(list []store.Candidate, accept func(Assignment) bool) []Assignment {
	begin := len(m.assigned)
	for i := range list {
		if m.Full() {
			break
		}
		c := &list[i]
		v := m.suitable(c)
		if v == nil {
			continue
		}
		a := m.assignment(c, v)
		if accept != nil && !accept(a) {
			m.skip(c.AppID, Lack{Code: protocol.RefusedOther})
			continue
		}
		m.take(a)
	}
	return m.assigned[begin:]
}

// Assigned returns the results that were taken, in order.
func (m *Match) Assigned() []Assignment { return m.assigned }

// Fits reports whether the host may have a candidate in addition to the results taken, and
// otherwise records the reason.
func (m *Match) Fits(c *store.Candidate) bool { return m.suitable(c) != nil }

// suitable is Fits that returns the version, or nil.
func (m *Match) suitable(c *store.Candidate) *store.AppVersion {
	v, why := m.fit(c)
	if why != nil {
		m.skip(c.AppID, *why)
		if why.small {
			m.small(c)
		}
		return nil
	}
	return v
}

// fit returns the version with which the host may compute a candidate, or why it may not
// have it: the first that is possible, and why the best is not.
func (m *Match) fit(c *store.Candidate) (*store.AppVersion, *Lack) {
	if !m.targeted(c) {
		return nil, &Lack{Code: protocol.RefusedOther}
	}
	if c.Suspicious && !m.facts.Trusted {
		return nil, &Lack{Code: protocol.RefusedTrusted}
	}
	if m.hadOne(c) || m.tookOne(c) {
		return nil, &Lack{Code: protocol.RefusedHasOne}
	}
	if c.ReservedUntil.After(m.facts.Now) || m.lacks(c) {
		return nil, &Lack{Code: protocol.RefusedReserved}
	}
	list, why := m.versionsFor(c)
	for _, v := range list {
		lack := m.fitWith(c, v)
		if lack == nil {
			return v, nil
		}
		if why == nil {
			why = lack
		}
	}
	return nil, why
}

// tookOne reports whether the candidate was taken before: one that is kept for the host may be
// found a second time. Where a host may have only one result of a workunit, tookOne also reports
// whether another result of the candidate's workunit was taken.
func (m *Match) tookOne(c *store.Candidate) bool {
	if m.taken[c.WorkunitID] == nil {
		return false
	}
	return m.facts.Rules.OneResult() || slices.ContainsFunc(m.assigned, func(a Assignment) bool { return a.ID == c.ID })
}

// fitWith returns the reason why the host cannot compute a candidate with a version, or nil.
func (m *Match) fitWith(c *store.Candidate, v *store.AppVersion) *Lack {
	if why := m.unreliable(c, v); why != nil {
		return why
	}
	if class, ok := m.facts.Rules.PlanClasses[v.PlanClass]; ok {
		if why := class.leavesOut(c); why != nil {
			return why
		}
	}
	u, _ := m.Usage(v)
	if why := m.feasible(c, u, m.within(c, m.duration(c.RscFpopsEst, u))); why != nil {
		return why
	}
	if c.RscDiskBound > m.disk { // after the other results in this reply
		return &Lack{Code: protocol.RefusedDisk, Need: c.RscDiskBound, Have: m.disk}
	}
	return m.overQuota(v)
}

// feasible returns the requirement of a candidate that this host does not meet, or nil if the host
// can compute it within a time. The other results in this reply count only for the time.
//
// With IdleIgnoreDelayBound a host with idle processors of the kind gets work, however slow it is,
// since the duration is only an estimate.
func (m *Match) feasible(c *store.Candidate, u Usage, within time.Duration) *Lack {
	l, memory := &m.limits, cmp.Or(u.Memory, c.RscMemoryBound)
	switch {
	case memory > l.memory:
		return &Lack{Code: protocol.RefusedMemory, Need: memory, Have: l.memory, small: true}
	case c.RscDiskBound > l.disk:
		return &Lack{Code: protocol.RefusedDisk, Need: c.RscDiskBound, Have: l.disk, small: true}
	case c.RscBandwidthBound > l.bandwidth:
		return &Lack{Code: protocol.RefusedBandwidth, Need: c.RscBandwidthBound, Have: l.bandwidth, small: true}
	}
	if start := m.demands[u.Coproc].queue.start(u.instances()); start > 0 || !m.facts.Rules.IdleIgnoreDelayBound {
		if done := start + m.duration(c.RscFpopsEst, u); done > within {
			return &Lack{Code: protocol.RefusedDeadline, Need: done.Seconds(), Have: within.Seconds()}
		}
	}
	return nil
}

// Kind reports whether the host could be given results of the kind of these
// (store.Workunit.Kind), and notes why not. Others of the kind may need less than these do.
func (m *Match) Kind(head []store.Candidate) bool {
	refusals := m.refusals
	if m.told { // once is enough
		refusals = slices.Clone(refusals)
	}
	ok := m.suits(head)
	if m.told {
		m.refusals = refusals
	}
	return ok
}

func (m *Match) suits(head []store.Candidate) bool {
	c := &head[0]
	if !m.targeted(c) {
		return false
	}
	if c.Suspicious && !m.facts.Trusted { // and so are all of the kind
		for range head {
			m.skip(c.AppID, Lack{Code: protocol.RefusedTrusted})
		}
		return false
	}
	list, why := m.versionsFor(c)
	oldest := slices.MinFunc(head, func(x, y store.Candidate) int { return x.CreateTime.Compare(y.CreateTime) })
	list = slices.DeleteFunc(slices.Clone(list), func(v *store.AppVersion) bool {
		lack := m.failing(&store.Candidate{LastChance: c.LastChance, Target: c.Target, CreateTime: oldest.CreateTime}, v) // of all the kind
		if lack != nil && why == nil {
			why = lack
		}
		return lack != nil
	})
	if len(list) == 0 {
		for range head {
			m.skip(c.AppID, *why)
		}
		return false
	}
	if m.someFeasible(c, list) {
		return true
	}
	u, _ := m.Usage(list[0])
	for i := range head {
		if why := m.feasible(&head[i], u, head[i].DelayBound); why != nil {
			m.skip(head[i].AppID, *why)
			if i == 0 && why.small {
				m.small(&head[i])
			}
		}
	}
	return false
}

// someFeasible reports whether some of the kind of c may be feasible with one of versions.
func (m *Match) someFeasible(c *store.Candidate, versions []*store.AppVersion) bool {
	least := *c
	least.RscMemoryBound, least.RscDiskBound = store.AtLeast(c.RscMemoryBound), store.AtLeast(c.RscDiskBound)
	least.RscBandwidthBound, least.RscFpopsEst = store.AtLeast(c.RscBandwidthBound), store.AtLeastHalf(c.RscFpopsEst)
	return slices.ContainsFunc(versions, func(v *store.AppVersion) bool {
		u, _ := m.Usage(v)
		return m.feasible(&least, u, 2*c.DelayBound) == nil
	})
}

// More reports whether more results of the kind of c may be of use after those that were taken: the
// host has a version for a processor for which it wants more work, and has room and time left.
func (m *Match) More(c *store.Candidate) bool {
	list, why := m.versionsFor(c)
	return why == nil && store.AtLeast(c.RscDiskBound) <= m.disk && m.someFeasible(c, list)
}

// Fit returns the host's current limits for the application of a candidate, for use in a database
// query.
func (m *Match) Fit(c *store.Candidate) store.Fit {
	l := &m.limits
	f := store.Fit{Memory: l.memory, Disk: min(l.disk, m.disk), Bandwidth: l.bandwidth, Now: m.facts.Now}
	switch rules := &m.facts.Rules; {
	case c.Target.Alone():
	case rules.OneResultPerUserPerWU:
		f.UserID = m.facts.Host.UserID
	case rules.OneResultPerHostPerWU:
		f.HostID = m.facts.Host.ID
	}
	list, _ := m.versionsFor(c)
	for i, v := range list { // the best of any of them
		one := m.fitOf(c, v)
		if i == 0 {
			f.Below, f.BelowSince, f.Wait, f.PerFlop = one.Below, one.BelowSince, one.Wait, one.PerFlop
			continue
		}
		if one.Below == 0 {
			f.Below = 0
		}
		f.Wait, f.PerFlop = min(f.Wait, one.Wait), min(f.PerFlop, one.PerFlop)
	}
	return f
}

// fitOf returns the part of a Fit that depends on the version.
func (m *Match) fitOf(c *store.Candidate, v *store.AppVersion) (f store.Fit) {
	u, _ := m.Usage(v)
	if urgent := &m.facts.Rules.Urgent; !c.Target.Alone() && !urgent.reliable(m.standing.Earned[v.ID]) {
		f.Below, f.BelowSince = urgent.OnPriority, m.facts.Now.Add(-firstRefusal)
	}
	if start := m.demands[u.Coproc].queue.start(u.instances()); start > 0 || !m.facts.Rules.IdleIgnoreDelayBound {
		f.Wait, f.PerFlop = start.Seconds(), m.duration(1e12, u).Seconds()/1e12
	}
	return f
}

// Take gives the host a candidate that Fits. If it fitted only before others were taken, the host
// may still get it. The check is left to the second decision.
func (m *Match) Take(c store.Candidate) Assignment {
	v, _ := m.fit(&c)
	if v == nil {
		list := m.committed(&c)
		if open := m.wanted(list); len(open) > 0 {
			list = open
		}
		v = list[0]
	}
	a := m.assignment(&c, v)
	m.take(a)
	return a
}

func (m *Match) take(a Assignment) {
	m.assigned = append(m.assigned, a)
	m.taken[a.WorkunitID] = a.Version
	m.today[a.Version.ID]++
	m.demands[a.Usage.Coproc].take(a.Duration, a.Usage.instances())
	m.disk -= a.RscDiskBound
}

func (m *Match) assignment(c *store.Candidate, v *store.AppVersion) Assignment {
	u, _ := m.Usage(v)
	d := m.duration(c.RscFpopsEst, u)
	cpus := u.NCPUs
	if u.Coproc != "" {
		cpus = max(cpus, u.Benchmark/m.flops())
	}
	return Assignment{Candidate: *c, Version: v, Usage: u, Duration: d, Within: m.within(c, d), Cost: max(d.Seconds(), 1) * cpus / m.weight(c.AppID)}
}

// weight is the part of the computing time that an application is to get.
func (m *Match) weight(appID int64) float64 {
	if w := m.facts.Catalog.Apps[appID].Weight; w > 0 {
		return w
	}
	return 1
}

// Had adds workunits from which the host had a result before. Results of these that were already
// taken are removed from the assignment: Had returns their IDs.
func (m *Match) Had(workunits map[int64]bool) (back []int64) {
	m.told = true
	had := make(map[int64]bool, len(m.had)+len(workunits))
	maps.Copy(had, m.had)
	maps.Copy(had, workunits)
	m.had = had
	all := m.assigned
	m.empty()
	for _, a := range all {
		if m.hadOne(&a.Candidate) {
			back = append(back, a.ID)
		} else {
			m.take(a)
		}
	}
	return back
}

// TooSmall returns candidates for which the host has too little memory, disk or bandwidth, each
// once. If all results of a kind are too large, it has the first of them.
func (m *Match) TooSmall() []store.Candidate { return m.tooSmall }

func (m *Match) small(c *store.Candidate) {
	if !slices.ContainsFunc(m.tooSmall, func(x store.Candidate) bool { return x.ID == c.ID }) {
		m.tooSmall = append(m.tooSmall, *c)
	}
}
