package match

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
)

// A GPU has a plan class's requirements for coprocessors and its use of them. Without a GPUType the
// class is one for CPUs, and the other fields are ignored.
//
// Source for the keys and what they do: BOINC sched/plan_class_spec.cpp, PLAN_CLASS_SPEC::check.
// Versions are numbers as there: of an NVIDIA driver 100·major + minor, of CAL 10000000·major +
// 10000·minor + release, of CUDA 1000·major + 10·minor, of compute capability and OpenCL 100·major
// + minor. If a host does not report its driver or its version of OpenCL, the requirement is taken
// to be met, as there.
type GPU struct {
	GPUType string `toml:"gpu_type"` // nvidia, amd (or ati), intel_gpu, apple_gpu, or the name of any other coprocessor
	// GPUTypeRegex takes, without a GPUType, the first coprocessors that a host reports
	// whose kind it matches a part of.
	GPUTypeRegex *regexp.Regexp `toml:"gpu_type_regex"`

	MinGPURAMMB       float64 `toml:"min_gpu_ram_mb"`       // memory of a device, at least
	GPURAMUsedMB      float64 `toml:"gpu_ram_used_mb"`      // memory that a task uses (0: min_gpu_ram_mb)
	GPUPeakFlopsScale float64 `toml:"gpu_peak_flops_scale"` // fraction of the device's peak speed that a task reaches (0: 1)
	MinGPUPeakFlops   float64 `toml:"min_gpu_peak_flops"`   // of a device, if it is known
	MaxGPUPeakFlops   float64 `toml:"max_gpu_peak_flops"`   // 0: any
	NGPUs             float64 `toml:"ngpus"`                // devices per task, below 1 a part of one (0: 1, below 0: as many tasks share a device as fit by gpu_ram_used_mb)
	CPUFrac           float64 `toml:"cpu_frac"`             // fraction of the operations that the CPU does (0: 0.1)
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
	WithoutOpenCL bool `toml:"without_opencl"` // only AMD devices without OpenCL
	NeedATILibs   bool `toml:"need_ati_libs"`  // the libraries of AMD's driver have the old names
	NeedAMDLibs   bool `toml:"need_amd_libs"`  // the newer ones

	MinMetalSupport int `toml:"min_metal_support"` // of Apple's devices

	// Without a gpu_type these are about the processors as OpenCL offers them.
	OpenCL            bool `toml:"opencl"`
	MinOpenCLVersion  int  `toml:"min_opencl_version"`
	MaxOpenCLVersion  int  `toml:"max_opencl_version"`
	DoublePrecisionFP bool `toml:"double_precision_fp"` // by OpenCL

	MinOpenCLDriverRevision int `toml:"min_opencl_driver_revision"` // AMD's: 100 times the number in brackets that ends its version
	MaxOpenCLDriverRevision int `toml:"max_opencl_driver_revision"`
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

// Kind returns the kind of coprocessor on which the class computes, by BOINC's name for it in
// requests and replies, or "" for the CPUs. If the class has a gpu_type_regex, Kind returns the
// text of that expression.
func (c PlanClass) Kind() string {
	if c.GPUType == "" && c.GPUTypeRegex != nil {
		return c.GPUTypeRegex.String()
	}
	return c.kind()
}

// KindOf is the kind on which the class computes on the host of a request.
func (c PlanClass) KindOf(req *protocol.SchedulerRequest) string {
	if c.GPUType == "" && c.GPUTypeRegex != nil {
		for i := range req.Coprocs {
			if d := &req.Coprocs[i]; d.Count > 0 && c.GPUTypeRegex.MatchString(d.Kind) {
				return d.Kind
			}
		}
	}
	return c.Kind()
}

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
		{"min_opencl_driver_revision", float64(g.MinOpenCLDriverRevision)},
		{"max_opencl_driver_revision", float64(g.MaxOpenCLDriverRevision)},
		{"min_metal_support", float64(g.MinMetalSupport)},
	}
}

func (g *GPU) check() (errs []PlanClassError) {
	bad := func(key, text string) { errs = append(errs, PlanClassError{key, text}) }
	for _, x := range []keyed{{"min_gpu_peak_flops", g.MinGPUPeakFlops}, {"max_gpu_peak_flops", g.MaxGPUPeakFlops}} {
		if !(x.value >= 0 && x.value <= 1e18) {
			bad(x.key, fmt.Sprintf("%v is out of range, want 0 to 1e18", words.Float(x.value)))
		}
	}
	switch n := g.NGPUs; {
	case !(n >= -64 && n <= 64) || n > 1 && n != float64(int(n)):
		bad("ngpus", fmt.Sprintf("%v: want a part of a device, above 0 and below 1, a whole number up to 64, or -1 for what its memory has room for", words.Float(n)))
	case n < 0 && g.GPURAMUsedMB == 0 && g.MinGPURAMMB == 0:
		bad("ngpus", "is negative, so gpu_ram_used_mb has to say how much memory a task uses")
	}
	if !(g.CPUFrac >= 0 && g.CPUFrac <= 1) {
		bad("cpu_frac", fmt.Sprintf("%v is out of range, want 0 to 1", words.Float(g.CPUFrac)))
	}
	if strings.EqualFold(g.GPUType, "cpu") || len(g.GPUType) > 64 || strings.ContainsAny(g.GPUType, " \t\r\n<>&\"") {
		bad("gpu_type", fmt.Sprintf("%.80q is not the name of a coprocessor", g.GPUType))
	}
	only := *g
	only.GPUType, only.OpenCL, only.MinOpenCLVersion, only.MaxOpenCLVersion, only.DoublePrecisionFP = "", false, 0, 0, false
	only.MinOpenCLDriverRevision, only.MaxOpenCLDriverRevision = 0, 0 // OpenCL offers CPUs as well
	if g.GPUType == "" && g.GPUTypeRegex == nil && only != (GPU{}) {
		bad("gpu_type", "is missing, and other keys of the class are about GPUs")
	}
	return errs
}

// onGPU is apply for the coprocessor requirements of a class with a gpu_type.
func (c PlanClass) onGPU(a asker) (Usage, *Lack) {
	kind, flops := c.KindOf(a.req), a.flops
	d := coprocOf(a.req, kind)
	if d == nil {
		return Usage{}, &Lack{Code: protocol.RefusedPlanClass, Kind: kind, Detail: article(DeviceName(kind))}
	}
	if a.image && d.NoImages {
		return Usage{}, &Lack{Code: protocol.RefusedImageGPU, Kind: kind}
	}
	if why := c.device(d); why != nil {
		why.Code, why.Kind, why.Detail = protocol.RefusedPlanClass, kind, article(DeviceName(kind))+" with "+why.Detail
		return Usage{}, why
	}
	u := Usage{NCPUs: c.cpuFrac(), Coproc: kind, GPURAM: c.ramUsed(), Benchmark: flops * c.scale()}
	u.Count = c.devices(d, c.utilization(a.volunteer))
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

// ramUsed returns the device memory that a task uses, in bytes.
func (g *GPU) ramUsed() float64 { return cmp.Or(g.GPURAMUsedMB, g.MinGPURAMMB) * mega }

// devices returns the number of devices that a task uses on a host, if its volunteer multiplies
// them by times.
//
// Different from BOINC's server: its formula for a negative number gives the part of the memory
// that all tasks together use, so that one of them would take nearly a whole device.
func (g *GPU) devices(d *protocol.Coproc, times float64) float64 {
	if g.NGPUs < 0 {
		return 1 / max(1, math.Floor(g.memory(d)/g.ramUsed()))
	}
	n := orOne(g.NGPUs) * times
	if n > 1 {
		n = math.Round(n) // devices are used in parts, or in whole numbers
	}
	return n
}

// memory returns the memory of a device in bytes, or 0 if it is unknown.
func (g *GPU) memory(d *protocol.Coproc) float64 {
	if cl := d.OpenCL; cl != nil && (g.OpenCL || d.Memory == 0) {
		return cl.GlobalMem
	}
	return d.Memory
}

func (g *GPU) cpuFrac() float64 {
	if g.CPUFrac > 0 {
		return g.CPUFrac
	}
	return defaultCPUFrac
}

// alternating returns the speed of a program that does the fraction frac of its operations on the
// CPU, at the speed cpu, and then the others on a device, at the speed gpu. It also returns the
// fraction of the time in which the program uses the CPU.
//
// Source: BOINC sched/sched_customize.h, coproc_perf.
func alternating(cpu, gpu, frac float64) (speed, busy float64) {
	perOperation := frac/cpu + (1-frac)/gpu // seconds
	return 1 / perOperation, frac / cpu / perOperation
}

// device returns the requirement that a device of the kind does not meet, in Detail, or nil.
func (g *GPU) device(d *protocol.Coproc) *Lack {
	driver, capability := driverVersion(d), 100*d.Major+d.Minor
	type need struct {
		applies            bool
		least, most, value float64
		unknownFits        bool
		what               string
	}
	for _, n := range []need{
		{true, g.MinGPURAMMB * mega, 0, g.memory(d), false, fmt.Sprintf("%.0f MB of memory", g.MinGPURAMMB)},
		{true, g.MinGPUPeakFlops, g.MaxGPUPeakFlops, d.PeakFlops, true, "another speed"},
		{true, float64(g.MinDriverVersion), float64(g.MaxDriverVersion), float64(driver), true, "another driver version"},
		{d.Kind == "NVIDIA", float64(g.MinNVIDIACompcap), float64(g.MaxNVIDIACompcap), float64(capability), false, "another compute capability"},
		{d.Kind == "NVIDIA" && g.CUDA, float64(g.MinCUDAVersion), float64(g.MaxCUDAVersion), float64(d.CUDA), false, "another CUDA version"},
		{d.Kind == "ATI", float64(g.MinCALTarget), float64(g.MaxCALTarget), float64(d.Target), false, "another CAL target"},
		{d.Kind == "apple_gpu", float64(g.MinMetalSupport), 0, float64(d.Metal), false, "another version of Metal"},
	} {
		if n.applies {
			if lack := within(n.value, n.least, n.most, n.unknownFits, n.what); lack != nil {
				return lack
			}
		}
	}
	switch {
	case d.Kind == "ATI" && g.WithoutOpenCL && d.OpenCL != nil:
		return &Lack{Detail: "CAL and without OpenCL"}
	case d.Kind == "ATI" && g.NeedATILibs && !d.ATILibs:
		return &Lack{Detail: "the libraries of ATI's driver"}
	case d.Kind == "ATI" && g.NeedAMDLibs && !g.NeedATILibs && !d.AMDLibs:
		return &Lack{Detail: "the libraries of AMD's driver"}
	case !g.OpenCL:
		return nil
	case d.OpenCL == nil:
		return &Lack{Detail: "OpenCL"}
	}
	return g.byOpenCL(d.OpenCL)
}

// within returns the unmet requirement if a value is below least or above most (0: no upper limit).
// An unknown value is 0. It is accepted if unknownFits is set.
func within(value, least, most float64, unknownFits bool, what string) *Lack {
	switch {
	case unknownFits && value == 0:
	case value < least:
		return &Lack{Need: least, Have: value, Detail: what}
	case most > 0 && value > most:
		return &Lack{Need: most, Have: value, Detail: what}
	}
	return nil
}

// driverVersion returns the version of a driver as a number, or 0 if it is unknown.
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

// DeviceName returns the display name of a kind of processor. The kind "" is the CPUs.
func DeviceName(kind string) string {
	return cmp.Or(KnownDevice(kind), "coprocessor of type "+kind)
}

// KnownDevice is DeviceName, or "" for a kind of a few projects only.
func KnownDevice(kind string) string {
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
	return ""
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
