package match

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
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
		errs = append(errs, PlanClassError{"gpu_type", "GPU tasks are not supported: the server cannot assign GPUs"})
	}
	return errs
}

// A Usage is what an app version does on a host.
type Usage struct {
	NCPUs     float64
	Flops     float64 // operations a second, as learnt
	Benchmark float64 // operations a second, by benchmark and plan class
	Cmdline   string  // added to the version's
}

// apply returns what a version of the class uses on a host of which ncpus CPUs may
// be used and each makes flops operations a second by its benchmark; or what the host
// lacks. What was learnt is left to the caller.
func (c PlanClass) apply(h protocol.HostInfo, ncpus int, flops float64) (Usage, *Lack) {
	if ncpus < c.MinNCPUs {
		return Usage{}, &Lack{
			Code: protocol.RefusedPlanClass, Need: float64(c.MinNCPUs), Have: float64(ncpus),
			Detail: fmt.Sprintf("%d CPUs that may compute", c.MinNCPUs),
		}
	}
	if need := c.MinMemoryMB * mega; h.MemBytes > 0 && h.MemBytes < need {
		return Usage{}, &Lack{Code: protocol.RefusedMemory, Need: need, Have: h.MemBytes}
	}
	has := strings.Fields(strings.ToLower(h.Features))
	for _, f := range c.CPUFeature {
		if !slices.Contains(has, strings.ToLower(f)) {
			return Usage{}, &Lack{Code: protocol.RefusedPlanClass, Detail: "a processor with " + f}
		}
	}
	u := Usage{NCPUs: float64(max(1, min(c.MaxThreads, ncpus)))}
	u.Benchmark = flops * u.NCPUs
	if c.ProjectedFlopsScale > 0 {
		u.Benchmark *= c.ProjectedFlopsScale
	}
	if c.NThreadsCmdline {
		u.Cmdline = "--nthreads " + strconv.Itoa(int(u.NCPUs))
	}
	return u, nil
}

// Unsuited returns the plan classes of the versions of a catalog that do not suit the host
// of a request, sorted; those included of which the project does not say what they are.
func Unsuited(req *protocol.SchedulerRequest, c *Catalog, classes map[string]PlanClass) (names []string) {
	for _, v := range c.Versions {
		if v.PlanClass != "" {
			names = append(names, v.PlanClass)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	ncpus := hostLimits(req).ncpus
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		class, ok := classes[name]
		if !ok {
			return false
		}
		_, lack := class.apply(req.Host, ncpus, unmeasured)
		return lack == nil
	})
}

// projected is Usage without what was learnt.
func (h *Host) projected(v *store.AppVersion) (Usage, *Lack) {
	client := h.facts.Request.Client
	if n := 100*client.Major + client.Minor; n < v.MinCoreVersion || v.MaxCoreVersion > 0 && n > v.MaxCoreVersion {
		need, what := v.MinCoreVersion, "newer"
		if n > need {
			need, what = v.MaxCoreVersion, "older"
		}
		return Usage{}, &Lack{
			Code: protocol.RefusedClientVersion, Need: float64(100 * need), Have: float64(client.Number()),
			Detail: fmt.Sprintf("BOINC %d.%d or %s", need/100, need%100, what),
		}
	}
	if v.PlanClass == "" {
		return Usage{NCPUs: 1, Benchmark: h.flops()}, nil
	}
	c, ok := h.facts.Rules.PlanClasses[v.PlanClass]
	if !ok {
		return Usage{}, &Lack{Code: protocol.RefusedPlanClass, Detail: "a computer of plan class " + v.PlanClass + ", which the project has not defined"}
	}
	return c.apply(h.facts.Request.Host, h.limits.ncpus, h.flops())
}
