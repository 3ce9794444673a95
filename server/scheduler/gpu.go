package scheduler

import (
	"strconv"
	"strings"

	"github.com/starling-grid/starling/protocol"
)

// gpus are the kinds of GPU that clients tell of, by element and by the name that
// <no_rsc_apps> takes.
var gpus = []struct{ element, name string }{
	{"<coproc_cuda>", "NVIDIA"},
	{"<coproc_ati>", "ATI"},
	{"<coproc_intel_gpu>", "intel_gpu"},
	{"<coproc_apple_gpu>", "apple_gpu"},
}

// noGPUs keeps the host from asking for GPU tasks, as there are none.
func (r *rpc) noGPUs() {
	if r.req.Coprocs == "" {
		return
	}
	for _, g := range gpus {
		if strings.Contains(r.req.Coprocs, g.element) {
			r.reply.NoRscApps = append(r.reply.NoRscApps, g.name)
		}
	}
	if len(r.reply.NoRscApps) > 0 && !r.req.WantsWork() && !r.req.DontSendWork && gpuWanted(r.req.Coprocs) {
		r.deny(protocol.Refusal{Code: protocol.RefusedGPU}, protocol.PriorityLow, "This project has no tasks for GPUs")
	}
}

// gpuWanted reports whether the description of GPUs asks for work for one.
func gpuWanted(coprocs string) bool {
	for rest := coprocs; ; {
		_, after, ok := strings.Cut(rest, "<req_secs>")
		if !ok {
			return false
		}
		n, tail, _ := strings.Cut(after, "</req_secs>")
		if f, err := strconv.ParseFloat(strings.TrimSpace(n), 64); err == nil && f > 0 {
			return true
		}
		rest = tail
	}
}
