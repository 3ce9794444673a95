package scheduler

import (
	"github.com/starling-grid/starling/protocol"
)

// noGPUs keeps the host from asking for GPU tasks, as there are none.
func (r *rpc) noGPUs() {
	for _, c := range r.req.Coprocs {
		r.reply.NoRscApps = append(r.reply.NoRscApps, c.Kind)
	}
	if r.req.WantsCoprocWork() && !r.req.WantsWork() {
		r.deny(protocol.Refusal{Code: protocol.RefusedGPU}, protocol.PriorityLow, "This project has no tasks for GPUs")
	}
}
