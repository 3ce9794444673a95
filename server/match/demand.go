package match

import (
	"math"
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// maxAsked bounds the seconds that a host may ask for at once, as in BOINC.
const maxAsked = 28 * 86400

// A demand is the amount of work that a host requests for one kind of processor, less the results
// that were taken. Kinds are BOINC's names of coprocessors, with "" for the CPUs. Work for one kind
// does not reduce the demand for others: the CPUs that feed coprocessors were not part of the
// request.
//
// Source: BOINC sched/sched_send.cpp, add_result_to_reply.
type demand struct {
	seconds, instances float64
	queue              queue
	room               int // results that it may still get
}

func (d *demand) open() bool { return d.room > 0 && (d.seconds > 0 || d.instances > 0) }

func (d *demand) take(t time.Duration, instances float64) {
	d.seconds -= t.Seconds() * instances
	d.instances -= instances
	d.queue.add(t, instances)
	d.room--
}

// asked returns the demands of a host by kind of processor: for the CPUs and for each of its
// coprocessors.
func (m *Match) asked() map[string]*demand {
	req := m.facts.Request
	all := map[string]*demand{"": {
		seconds: min(req.CPUReqSeconds, maxAsked), instances: req.CPUReqInstances,
		queue: newQueue(req.CPUReqInstances, req.EstimatedDelay, m.limits.ncpus),
	}}
	for i := range req.Coprocs {
		c := &req.Coprocs[i]
		if all[c.Kind] == nil {
			all[c.Kind] = &demand{
				seconds: min(c.ReqSeconds, maxAsked), instances: c.ReqInstances,
				queue: newQueue(c.ReqInstances, c.Delay, c.Count),
			}
		}
	}
	for kind, d := range all {
		d.room = math.MaxInt
		if n, ok := m.limit[kind]; ok {
			d.room = n
		}
	}
	return all
}

func (m *Match) wantsAny() bool {
	for _, d := range m.demands {
		if d.open() {
			return true
		}
	}
	return false
}

// wants reports whether more is wanted for the kind of processor of a version.
func (m *Match) wants(v *store.AppVersion) bool {
	u, _ := m.Usage(v)
	d := m.demands[u.Coproc]
	return d != nil && d.open()
}

// wanted returns the versions of a list for whose processors more is wanted. It may be the
// list itself.
func (m *Match) wanted(list []*store.AppVersion) []*store.AppVersion {
	if !slices.ContainsFunc(list, func(v *store.AppVersion) bool { return !m.wants(v) }) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(v *store.AppVersion) bool { return !m.wants(v) })
}

// versionsFor returns the versions with which the host could compute a candidate, the fastest
// first: one for each kind of processor for which more work is wanted. If there is no such version
// it returns the reason. Callers must not change the list.
func (m *Match) versionsFor(c *store.Candidate) ([]*store.AppVersion, *Lack) {
	if len(m.versions[c.AppID]) == 0 {
		// Other hosts may have a version, and the project may add one. That this host lacks one is
		// no reason to reject the result.
		return nil, m.noVersion(c.AppID)
	}
	if why := m.hasBeside(c.AppID); why != nil {
		return nil, why
	}
	list := m.committed(c)
	if len(list) == 0 {
		return nil, &Lack{Code: protocol.RefusedCommitted}
	}
	if open := m.wanted(list); len(open) > 0 {
		return open, nil
	}
	u, _ := m.Usage(list[0])
	return nil, &Lack{Code: protocol.RefusedProcessor, Kind: u.Coproc}
}

// roomAtFirst returns the number of results that the host may get in all and on each kind of
// processor, and records the reason if it may get none.
//
// Source: BOINC sched/sched_send.cpp, get_job_limits: max_wus_in_progress counts for the CPUs
// alone, and max_wus_in_progress_gpu for each kind of GPU. Different here: it counts for generic
// coprocessors too. The volunteer's own limit counts for all together.
func (m *Match) roomAtFirst() (n int, limit map[string]int) {
	rules := &m.facts.Rules
	n, limit = math.MaxInt, make(map[string]int)
	if rules.MaxWusToSend > 0 {
		gpus := 0
		for i := range m.facts.Request.Coprocs {
			gpus += m.facts.Request.Coprocs[i].Count
		}
		n = rules.MaxWusToSend * (m.cpus + gpus*rules.multiplier())
	}
	have, all := make(map[string]int), 0
	for class, n := range m.standing.InProgress {
		kind, own := store.AnonymousKind(class)
		if !own {
			kind = rules.PlanClasses[class].KindOf(m.facts.Request)
		}
		have[kind] += n
		all += n
	}
	if most := m.facts.Wishes.MaxTasks; most > 0 {
		if n = min(n, max(0, most-all)); n == 0 {
			m.refuse(protocol.Refusal{Code: protocol.RefusedPreferences, Need: float64(all + 1), Have: float64(most), Detail: "limit tasks in progress on a computer"})
		}
	}
	bound := func(kind string, most int, asks bool) {
		if _, again := limit[kind]; again || most <= 0 {
			return
		}
		limit[kind] = most - have[kind]
		if limit[kind] <= 0 && asks {
			m.refuse(protocol.Refusal{Code: protocol.RefusedInProgress, Kind: kind, Need: float64(have[kind] + 1), Have: float64(most)})
		}
	}
	req := m.facts.Request
	bound("", rules.MaxWusInProgress*m.cpus, req.CPUReqSeconds > 0 || req.CPUReqInstances > 0)
	for i := range req.Coprocs {
		c := &req.Coprocs[i]
		bound(c.Kind, rules.MaxWusInProgressGPU*c.Count, c.WantsWork())
	}
	return n, limit
}

// multiplier returns the number of CPUs that a coprocessor counts as.
func (r *Rules) multiplier() int { return max(1, r.GPUMultiplier) }
