package scheduler

import (
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
)

// processors lists in the reply the host's processors for which there are no programs, so that it
// stops asking for such work. It returns false if the host asks for no other work.
//
// Source: BOINC sched/sched_types.cpp, SCHEDULER_REPLY::write. If there are programs for none of
// them, the reply names none, or some clients would never ask again. Different here: only programs for the
// host's platforms count, and generic coprocessors do too.
func (r *rpc) processors() bool {
	r.reply.NonCPUIntensive = r.catalog.OnlyBeside()
	there := r.catalog.Kinds(r.req, r.s.Config.PlanClasses)
	var missing []string
	some := there[""]
	if !there[""] {
		missing = append(missing, "CPU")
	}
	asks, lacks := r.req.WantsWork() && there[""], ""
	for i := range r.req.Coprocs {
		c := &r.req.Coprocs[i]
		if there[c.Kind] {
			some, asks = true, asks || c.WantsWork()
			continue
		}
		missing = append(missing, c.Kind)
		if c.WantsWork() {
			lacks = c.Kind
		}
	}
	if some && !match.Anonymous(r.req) { // such a client chooses its own programs
		r.reply.NoRscApps = append(r.reply.NoRscApps, missing...)
	}
	if asks || lacks == "" || r.req.DontSendWork || r.req.WantsWork() {
		return true
	}
	r.deny(protocol.Refusal{Code: protocol.RefusedGPU, Kind: lacks}, protocol.PriorityLow, "This project has no tasks for "+match.DeviceNames(lacks))
	return false
}
