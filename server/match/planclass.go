package match

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// A PlanClass describes the hosts on which the app versions of a plan class run, and their usage
// there. The keys are the ones from BOINC's plan_class_spec.xml where it has an equivalent. The
// zero value accepts every host and uses one CPU.
type PlanClass struct {
	MinNCPUs            int      `toml:"min_ncpus"`               // CPUs that the host may use, at least
	MaxThreads          int      `toml:"max_threads"`             // maximum number of CPUs that a task uses (0: one)
	AvgNCPUs            float64  `toml:"avg_ncpus"`               // CPUs that a task uses, instead of the computed number (0: that number)
	NThreadsCmdline     bool     `toml:"nthreads_cmdline"`        // pass the number to the program: --nthreads N
	CPUFeature          []string `toml:"cpu_feature"`             // the processor's names for them: avx2, sse4_1 … (all are required)
	MinMemoryMB         float64  `toml:"min_memory_mb"`           // of the host
	MinCoreVersion      int      `toml:"min_core_client_version"` // of the client, 10000·major + 100·minor + release
	MaxCoreVersion      int      `toml:"max_core_client_version"` // 0: any
	ProjectedFlopsScale float64  `toml:"projected_flops_scale"`   // speed relative to the benchmark (0: 1)
	Computer
	Choice
	Only
	Memory
	GPU
	Virtual

	// Unsupported has the keys of a class read from a plan_class_spec.xml that BOINC's server uses
	// but this one does not support. A class that has any is not used on any host.
	Unsupported []string `toml:"-"`
}

// A PlanClassError describes an invalid key of a plan class.
type PlanClassError struct{ Key, Text string }

// Check returns the errors in a class.
func (c PlanClass) Check() (errs []PlanClassError) {
	for _, x := range append([]keyed{
		{"min_ncpus", float64(c.MinNCPUs)},
		{"max_threads", float64(c.MaxThreads)},
		{"avg_ncpus", c.AvgNCPUs},
		{"min_memory_mb", c.MinMemoryMB},
		{"min_core_client_version", float64(c.MinCoreVersion)},
		{"max_core_client_version", float64(c.MaxCoreVersion)},
		{"projected_flops_scale", c.ProjectedFlopsScale},
	}, slices.Concat(c.Computer.numbers(), c.GPU.numbers(), c.Only.numbers(), c.Memory.numbers(), c.Virtual.numbers())...) {
		if !(x.value >= 0 && x.value <= 1e10) {
			errs = append(errs, PlanClassError{x.key, fmt.Sprintf("%v is out of range, want 0 to 1e10", words.Float(x.value))})
		}
	}
	if p := c.InfeasibleRandom; !(p >= 0 && p <= 1) {
		errs = append(errs, PlanClassError{"infeasible_random", fmt.Sprintf("%v is out of range, want 0 to 1", words.Float(p))})
	}
	return slices.Concat(errs, c.GPU.check(), c.Virtual.check())
}

type keyed struct {
	key   string
	value float64
}

// A Usage has the resources that an app version uses on a host, and its speed there.
type Usage struct {
	NCPUs     float64
	Coproc    string  // kind of the coprocessors that it computes on ("": the CPUs)
	Count     float64 // number of these, below 1 a part of one
	GPURAM    float64 // bytes on each (0: unknown)
	Memory    float64 // bytes of the host's memory (0: the workunit's bound)
	Flops     float64 // operations a second, as learnt
	Benchmark float64 // operations a second, by benchmark and plan class
	Cmdline   string  // added to the version's
	// Declared is the speed, in operations a second, that the client itself uses for a version
	// supplied by its volunteer. The client ignores the server's speed for such a version. 0 means
	// that the client uses the server's speed.
	Declared float64
}

// instances returns the number of processors of its kind that it uses.
func (u Usage) instances() float64 {
	if u.Coproc != "" {
		return u.Count
	}
	return u.NCPUs
}

// An asker has the facts about a request that plan classes use.
type asker struct {
	req       *protocol.SchedulerRequest
	ncpus     int        // that may be used
	flops     float64    // operations a second of each by its benchmark
	memory    float64    // bytes that may be used
	image     bool       // the version is a container image
	volunteer *Volunteer // nil: any
	host      int64
	turn      int64
}

// apply returns the usage of a version of the class on the host of a request, or the requirement
// that the host does not meet. The caller applies the learned run times.
func (c PlanClass) apply(a asker) (Usage, *Lack) {
	req, ncpus, flops, h := a.req, a.ncpus, a.flops, &a.req.Host
	if len(c.Unsupported) > 0 {
		return Usage{}, &Lack{Code: protocol.RefusedPlanClass, Detail: "a server that knows " + strings.Join(c.Unsupported, ", ")}
	}
	if why := c.client(req.Client.Number()); why != nil {
		return Usage{}, why
	}
	if why := c.Computer.lacks(h); why != nil {
		return Usage{}, why
	}
	if v := a.volunteer; v != nil {
		if c.UserID != 0 && c.UserID != v.ID || c.unlucky(a.host, a.turn) {
			return Usage{}, &Lack{Code: protocol.RefusedOther}
		}
		if why := c.unwanted(v); why != nil {
			return Usage{}, why
		}
	}
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
	if why := c.Virtual.lacks(req); why != nil {
		return Usage{}, why
	}
	if c.GPUType != "" || c.GPUTypeRegex != nil {
		return c.onGPU(a)
	}
	if c.OpenCL && !slices.ContainsFunc(h.OpenCLCPUs, func(o protocol.OpenCLCPU) bool { return c.byOpenCL(&o.OpenCL) == nil }) {
		return Usage{}, &Lack{Code: protocol.RefusedPlanClass, Detail: "a processor that OpenCL offers, in such a version"}
	}
	u := Usage{NCPUs: float64(max(1, min(c.MaxThreads, ncpus)))}
	if c.VirtualBox && !accelerated(h) {
		u.NCPUs = 1 // a virtual machine has one without the processor's support
	}
	if c.AvgNCPUs > 0 {
		u.NCPUs = c.AvgNCPUs
	} else if why := c.limit(&u, c.MinNCPUs, a.memory); why != nil {
		return Usage{}, why
	}
	u.Benchmark = flops * u.NCPUs * c.scale()
	if c.NThreadsCmdline {
		u.Cmdline = strings.TrimSpace(u.Cmdline + " --nthreads " + strconv.Itoa(int(u.NCPUs)))
	}
	return u, nil
}

func (c PlanClass) scale() float64 { return orOne(c.ProjectedFlopsScale) }

func orOne(x float64) float64 {
	if x > 0 {
		return x
	}
	return 1
}

// client returns the requirement that a client's version does not meet, or nil.
func (c PlanClass) client(version int) *Lack {
	need, what := c.MinCoreVersion, "newer"
	if version >= need {
		need, what = c.MaxCoreVersion, "older"
		if need == 0 || version <= need {
			return nil
		}
	}
	return &Lack{
		Code: protocol.RefusedClientVersion, Need: float64(need), Have: float64(version),
		Detail: fmt.Sprintf("BOINC %d.%d.%d or %s", need/10000, need/100%100, need%100, what),
	}
}

// Unsuited returns the plan classes of a catalog's versions that do not suit the host of a request,
// sorted. Classes that the project does not define are included.
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
	limits := hostLimits(req)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		class, ok := classes[name]
		if !ok {
			return false
		}
		image := !slices.ContainsFunc(c.Versions, func(v *store.AppVersion) bool { return v.PlanClass == name && !isImage(v) })
		_, lack := class.apply(asker{req: req, ncpus: limits.ncpus, flops: Unmeasured, memory: limits.memory, image: image})
		return lack == nil
	})
}

// projected is Usage without learned run times.
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
	return c.apply(asker{h.facts.Request, h.limits.ncpus, h.flops(), h.limits.memory, isImage(v), &h.facts.Volunteer, h.facts.Host.ID, h.facts.Turn})
}
