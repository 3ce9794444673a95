package scheduler

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/speed"
)

// A PlanClass says on which hosts the app versions of a plan class run, and what
// they use there. The keys are those of BOINC's plan_class_spec.xml where it has
// an equal. The zero value takes every host and uses one CPU.
type PlanClass struct {
	MinNCPUs            int      `toml:"min_ncpus"`             // CPUs that the host may use, at least
	MaxThreads          int      `toml:"max_threads"`           // CPUs that a task uses, at most; 0: one
	NThreadsCmdline     bool     `toml:"nthreads_cmdline"`      // tell the program how many: --nthreads N
	CPUFeature          []string `toml:"cpu_feature"`           // as the processor calls them: avx2, sse4_1 …; all are needed
	MinMemoryMB         float64  `toml:"min_memory_mb"`         // of the host
	ProjectedFlopsScale float64  `toml:"projected_flops_scale"` // speed over that of the benchmark; 0: 1
	GPUType             string   `toml:"gpu_type"`              // refused: there are no GPU tasks
}

// A PlanClassError says what is wrong with a key of a plan class.
type PlanClassError struct{ Key, Text string }

// Check returns what makes no sense.
func (c PlanClass) Check() (errs []PlanClassError) {
	for _, x := range []struct {
		key   string
		value float64
	}{
		{"min_ncpus", float64(c.MinNCPUs)},
		{"max_threads", float64(c.MaxThreads)},
		{"min_memory_mb", c.MinMemoryMB},
		{"projected_flops_scale", c.ProjectedFlopsScale},
	} {
		if !(x.value >= 0 && x.value <= 1e9) {
			errs = append(errs, PlanClassError{x.key, fmt.Sprintf("%v is out of range, want 0 to 1e9", x.value)})
		}
	}
	if c.GPUType != "" {
		errs = append(errs, PlanClassError{"gpu_type", "tasks for GPUs are not supported: the server neither asks for GPUs nor tells clients to use one"})
	}
	return errs
}

// A usage is what an app version does on a host.
type usage struct {
	ncpus     float64
	flops     float64 // operations a second, as learnt
	benchmark float64 // operations a second, by benchmark and plan class
	cmdline   string  // added to the version's
}

// A lack is what keeps a host from running an app version.
type lack struct {
	code       protocol.RefusalCode
	need, have float64
	what       string // for people
}

// apply returns what a version of the class uses on a host of which ncpus CPUs may
// be used and each makes flops operations a second by its benchmark; or what the host
// lacks. What was learnt is left to the caller.
func (c PlanClass) apply(h protocol.HostInfo, ncpus int, flops float64) (usage, *lack) {
	if ncpus < c.MinNCPUs {
		return usage{}, &lack{
			protocol.RefusedPlanClass, float64(c.MinNCPUs), float64(ncpus), fmt.Sprintf("%d CPUs that may compute", c.MinNCPUs),
		}
	}
	if need := c.MinMemoryMB * mega; h.MemBytes > 0 && h.MemBytes < need {
		return usage{}, &lack{protocol.RefusedMemory, need, h.MemBytes, ""}
	}
	has := strings.Fields(strings.ToLower(h.Features))
	for _, f := range c.CPUFeature {
		if !slices.Contains(has, strings.ToLower(f)) {
			return usage{}, &lack{code: protocol.RefusedPlanClass, what: "a processor with " + f}
		}
	}
	u := usage{ncpus: float64(max(1, min(c.MaxThreads, ncpus)))}
	u.benchmark = flops * u.ncpus
	if c.ProjectedFlopsScale > 0 {
		u.benchmark *= c.ProjectedFlopsScale
	}
	if c.NThreadsCmdline {
		u.cmdline = "--nthreads " + strconv.Itoa(int(u.ncpus))
	}
	return u, nil
}

// usage returns what an app version does on this host, or what keeps it from
// running there.
func (r *rpc) usage(v *version) (usage, *lack) {
	u, lack := r.projected(v)
	if lack == nil {
		u.flops, _ = speed.Flops(r.known(v, u.benchmark))
	}
	return u, lack
}

// projected is usage without what was learnt.
func (r *rpc) projected(v *version) (usage, *lack) {
	if n := 100*r.req.Client.Major + r.req.Client.Minor; n < v.MinCoreVersion || v.MaxCoreVersion > 0 && n > v.MaxCoreVersion {
		need, what := v.MinCoreVersion, "newer"
		if n > need {
			need, what = v.MaxCoreVersion, "older"
		}
		return usage{}, &lack{
			protocol.RefusedClientVersion, float64(100 * need), float64(r.req.Client.Number()),
			fmt.Sprintf("BOINC %d.%d or %s", need/100, need%100, what),
		}
	}
	if v.PlanClass == "" {
		return usage{ncpus: 1, benchmark: r.flops()}, nil
	}
	c, ok := r.s.Config.PlanClasses[v.PlanClass]
	if !ok {
		return usage{}, &lack{code: protocol.RefusedPlanClass, what: "a computer of plan class " + v.PlanClass + ", of which the project does not say what that is"}
	}
	return c.apply(r.req.Host, r.limits.ncpus, r.flops())
}

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
