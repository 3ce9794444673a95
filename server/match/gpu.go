package match

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/protocol"
)

// A GPU is what a plan class wants of coprocessors and uses of them. Without a GPUType the
// class is one for CPUs, and the rest means nothing.
//
// Source for the keys and what they do: BOINC sched/plan_class_spec.cpp,
// PLAN_CLASS_SPEC::check. Versions are numbers as there: of an NVIDIA driver
// 100·major + minor, of CAL 10000000·major + 10000·minor + release, of CUDA
// 1000·major + 10·minor, of compute capability and OpenCL 100·major + minor. What a host
// does not tell of its driver or its version of OpenCL is taken to be enough, as there.
type GPU struct {
	GPUType string `toml:"gpu_type"` // nvidia, amd (or ati), intel_gpu, apple_gpu, or the name of any other coprocessor

	MinGPURAMMB       float64 `toml:"min_gpu_ram_mb"`       // memory of a device, at least
	GPURAMUsedMB      float64 `toml:"gpu_ram_used_mb"`      // that a task uses; 0: min_gpu_ram_mb
	GPUPeakFlopsScale float64 `toml:"gpu_peak_flops_scale"` // part of its peak speed that a task gets out of a device; 0: 1
	MinGPUPeakFlops   float64 `toml:"min_gpu_peak_flops"`   // of a device, if it is known
	MaxGPUPeakFlops   float64 `toml:"max_gpu_peak_flops"`   // 0: any
	NGPUs             float64 `toml:"ngpus"`                // devices that a task uses; below 1 a part of one; 0: 1
	CPUFrac           float64 `toml:"cpu_frac"`             // part of the operations that the CPU does; 0: 0.1
	MinDriverVersion  int     `toml:"min_driver_version"`
	MaxDriverVersion  int     `toml:"max_driver_version"`

	CUDA             bool `toml:"cuda"` // the versions of CUDA count
	MinCUDAVersion   int  `toml:"min_cuda_version"`
	MaxCUDAVersion   int  `toml:"max_cuda_version"`
	MinNVIDIACompcap int  `toml:"min_nvidia_compcap"`
	MaxNVIDIACompcap int  `toml:"max_nvidia_compcap"`

	CAL           bool `toml:"cal"` // BOINC's server reads this key and does nothing with it
	MinCALTarget  int  `toml:"min_cal_target"`
	MaxCALTarget  int  `toml:"max_cal_target"`
	WithoutOpenCL bool `toml:"without_opencl"` // only AMD's devices that have no OpenCL

	OpenCL            bool `toml:"opencl"`
	MinOpenCLVersion  int  `toml:"min_opencl_version"`
	MaxOpenCLVersion  int  `toml:"max_opencl_version"`
	DoublePrecisionFP bool `toml:"double_precision_fp"` // by OpenCL
}

const defaultCPUFrac = 0.1

func (g *GPU) kind() string {
	switch name := strings.ToLower(g.GPUType); {
	case name == "amd" || name == "ati":
		return "ATI"
	case name == "nvidia":
		return "NVIDIA"
	case strings.HasPrefix(name, "intel"):
		return "intel_gpu"
	case name == "apple" || name == "apple_gpu":
		return "apple_gpu"
	}
	return g.GPUType
}

// Kind is the kind of coprocessor on which the class computes, by BOINC's name for it in
// requests and replies; "" is the CPUs.
func (c PlanClass) Kind() string { return c.kind() }

func (g *GPU) numbers() []keyed {
	return []keyed{
		{"min_gpu_ram_mb", g.MinGPURAMMB},
		{"gpu_ram_used_mb", g.GPURAMUsedMB},
		{"gpu_peak_flops_scale", g.GPUPeakFlopsScale},
		{"min_driver_version", float64(g.MinDriverVersion)},
		{"max_driver_version", float64(g.MaxDriverVersion)},
		{"min_cuda_version", float64(g.MinCUDAVersion)},
		{"max_cuda_version", float64(g.MaxCUDAVersion)},
		{"min_nvidia_compcap", float64(g.MinNVIDIACompcap)},
		{"max_nvidia_compcap", float64(g.MaxNVIDIACompcap)},
		{"min_cal_target", float64(g.MinCALTarget)},
		{"max_cal_target", float64(g.MaxCALTarget)},
		{"min_opencl_version", float64(g.MinOpenCLVersion)},
		{"max_opencl_version", float64(g.MaxOpenCLVersion)},
	}
}

func (g *GPU) check() (errs []PlanClassError) {
	bad := func(key, text string) { errs = append(errs, PlanClassError{key, text}) }
	for _, x := range []keyed{{"min_gpu_peak_flops", g.MinGPUPeakFlops}, {"max_gpu_peak_flops", g.MaxGPUPeakFlops}} {
		if !(x.value >= 0 && x.value <= 1e18) {
			bad(x.key, fmt.Sprintf("%v is out of range, want 0 to 1e18", x.value))
		}
	}
	if n := g.NGPUs; !(n >= 0 && n <= 64) || n > 1 && n != float64(int(n)) {
		bad("ngpus", fmt.Sprintf("%v: want a part of a device, above 0 and below 1, or a whole number up to 64", n))
	}
	if !(g.CPUFrac >= 0 && g.CPUFrac <= 1) {
		bad("cpu_frac", fmt.Sprintf("%v is out of range, want 0 to 1", g.CPUFrac))
	}
	if strings.EqualFold(g.GPUType, "cpu") || len(g.GPUType) > 64 || strings.ContainsAny(g.GPUType, " \t\r\n<>&\"") {
		bad("gpu_type", fmt.Sprintf("%.80q is not the name of a coprocessor", g.GPUType))
	}
	only := *g
	if only.GPUType = ""; g.GPUType == "" && only != (GPU{}) {
		bad("gpu_type", "is missing, and other keys of the class are about GPUs")
	}
	return errs
}

// onGPU is apply for a class with a gpu_type, of what it wants of the coprocessors.
func (c PlanClass) onGPU(req *protocol.SchedulerRequest, flops float64) (Usage, *Lack) {
	kind := c.Kind()
	d := coprocOf(req, kind)
	if d == nil {
		return Usage{}, &Lack{Code: protocol.RefusedPlanClass, Kind: kind, Detail: article(DeviceName(kind))}
	}
	if why := c.device(d); why != nil {
		why.Code, why.Kind, why.Detail = protocol.RefusedPlanClass, kind, article(DeviceName(kind))+" with "+why.Detail
		return Usage{}, why
	}
	u := Usage{NCPUs: c.cpuFrac(), Coproc: kind, Count: orOne(c.NGPUs), GPURAM: c.GPURAMUsedMB * mega, Benchmark: flops * c.scale()}
	if u.GPURAM == 0 {
		u.GPURAM = c.MinGPURAMMB * mega
	}
	if u.Count > float64(d.Count) {
		return Usage{}, &Lack{Code: protocol.RefusedPlanClass, Kind: kind, Need: u.Count, Have: float64(d.Count), Detail: fmt.Sprintf("%v of %s", u.Count, DeviceName(kind))}
	}
	if d.PeakFlops > 0 {
		u.Benchmark, u.NCPUs = alternating(flops, orOne(c.GPUPeakFlopsScale)*u.Count*d.PeakFlops, c.cpuFrac())
		u.Benchmark *= c.scale()
	}
	if c.AvgNCPUs > 0 {
		u.NCPUs = c.AvgNCPUs
	}
	return u, nil
}

func (g *GPU) cpuFrac() float64 {
	if g.CPUFrac > 0 {
		return g.CPUFrac
	}
	return defaultCPUFrac
}

// alternating returns the speed of a program that does the part frac of its operations on
// the CPU, at the speed cpu, and the others on a device, at the speed gpu, one after the
// other; and for what part of the time it uses the CPU.
//
// Source: BOINC sched/sched_customize.h, coproc_perf.
func alternating(cpu, gpu, frac float64) (speed, busy float64) {
	perOperation := frac/cpu + (1-frac)/gpu // seconds
	return 1 / perOperation, frac / cpu / perOperation
}

// device returns what a device of the kind lacks, in Detail, or nil.
func (g *GPU) device(d *protocol.Coproc) *Lack {
	memory := d.Memory
	if cl := d.OpenCL; cl != nil && (g.OpenCL || memory == 0) {
		memory = cl.GlobalMem
	}
	driver, capability := driverVersion(d), 100*d.Major+d.Minor
	type need struct {
		applies            bool
		least, most, value float64
		unknownFits        bool
		what               string
	}
	for _, n := range []need{
		{true, g.MinGPURAMMB * mega, 0, memory, false, fmt.Sprintf("%.0f MB of memory", g.MinGPURAMMB)},
		{true, g.MinGPUPeakFlops, g.MaxGPUPeakFlops, d.PeakFlops, true, "another speed"},
		{true, float64(g.MinDriverVersion), float64(g.MaxDriverVersion), float64(driver), true, "another driver version"},
		{d.Kind == "NVIDIA", float64(g.MinNVIDIACompcap), float64(g.MaxNVIDIACompcap), float64(capability), false, "another compute capability"},
		{d.Kind == "NVIDIA" && g.CUDA, float64(g.MinCUDAVersion), float64(g.MaxCUDAVersion), float64(d.CUDA), false, "another CUDA version"},
		{d.Kind == "ATI", float64(g.MinCALTarget), float64(g.MaxCALTarget), float64(d.Target), false, "another CAL target"},
		{g.OpenCL && d.OpenCL != nil, float64(g.MinOpenCLVersion), float64(g.MaxOpenCLVersion), float64(openCLVersion(d.OpenCL)), true, "another OpenCL version"},
	} {
		if !n.applies || n.unknownFits && n.value == 0 {
			continue
		}
		if n.value < n.least {
			return &Lack{Need: n.least, Have: n.value, Detail: n.what}
		}
		if n.most > 0 && n.value > n.most {
			return &Lack{Need: n.most, Have: n.value, Detail: n.what}
		}
	}
	switch {
	case d.Kind == "ATI" && g.WithoutOpenCL && d.OpenCL != nil:
		return &Lack{Detail: "CAL and without OpenCL"}
	case g.OpenCL && d.OpenCL == nil:
		return &Lack{Detail: "OpenCL"}
	case g.OpenCL && g.DoublePrecisionFP && d.OpenCL.DoubleFP == 0:
		return &Lack{Detail: "double precision"}
	}
	return nil
}

// driverVersion is the version of a driver as a number; 0: it is not known.
func driverVersion(d *protocol.Coproc) int {
	switch d.Kind {
	case "NVIDIA":
		n, _ := strconv.Atoi(strings.TrimSpace(d.Version))
		return max(0, n)
	case "ATI":
		var major, minor, release int
		if n, _ := fmt.Sscanf(d.Version, "%d.%d.%d", &major, &minor, &release); n == 3 {
			return major*10_000_000 + minor*10_000 + release
		}
	}
	return 0
}

// openCLVersion is the version of OpenCL of a device as a number; 0: it is not known.
func openCLVersion(o *protocol.OpenCL) int {
	if o == nil {
		return 0
	}
	var major, minor int
	if n, _ := fmt.Sscanf(o.DeviceVersion, "OpenCL %d.%d", &major, &minor); n != 2 {
		return 0
	}
	return 100*major + minor
}

// DeviceName is a kind of processor in words for people; "" is the CPUs.
func DeviceName(kind string) string {
	switch kind {
	case "", "CPU":
		return "CPU"
	case "NVIDIA":
		return "NVIDIA GPU"
	case "ATI":
		return "AMD GPU"
	case "intel_gpu":
		return "Intel GPU"
	case "apple_gpu":
		return "Apple GPU"
	}
	return "coprocessor of type " + kind
}

func article(noun string) string {
	if strings.ContainsAny(noun[:1], "AIN") {
		return "an " + noun
	}
	return "a " + noun
}

// DeviceNames is DeviceName in the plural.
func DeviceNames(kind string) string {
	name := DeviceName(kind)
	if head, of, ok := strings.Cut(name, " of "); ok {
		return head + "s of " + of
	}
	return name + "s"
}
