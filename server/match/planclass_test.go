package match_test

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// lackOf returns, in short, the requirement of a class that the host does not meet, or "".
func lackOf(w *world, class match.PlanClass) string {
	w.facts.Rules.PlanClasses["cuda"] = class
	_, lack := match.NewHost(w.facts).Usage(w.facts.Catalog.Versions[1])
	if lack == nil {
		return ""
	}
	return string(lack.Code) + " " + lack.Detail
}

// Each key of plan classes decides as it does on BOINC's server.
func TestPlanClassKeys(t *testing.T) {
	re := regexp.MustCompile
	const ubuntu = "Ubuntu 18.04.1 LTS [4.15.0-36-generic|libc 2.27 (Ubuntu GLIBC 2.27-3ubuntu1)]"
	computer := func(system, version string) func(w *world) {
		return func(w *world) {
			h := &w.facts.Request.Host
			h.OSName, h.OSVersion, h.Vendor, h.Model = system, version, "GenuineIntel", "Intel(R) Core(TM) i7-8700 CPU"
		}
	}
	gpu := func(change func(d *protocol.Coproc)) func(w *world) {
		return func(w *world) { change(&w.facts.Request.Coprocs[0]) }
	}
	radeon := gpu(func(d *protocol.Coproc) { d.Kind, d.AMDLibs = "ATI", true })
	app := func(version string) func(w *world) {
		return gpu(func(d *protocol.Coproc) { d.OpenCL.DeviceVersion = version })
	}
	prefers := func(xml string) func(w *world) {
		return func(w *world) { w.facts.Volunteer = match.Volunteer{ID: 7, Prefs: xml} }
	}
	choice := match.Choice{ProjectPrefsTag: "max_cores", ProjectPrefsRegex: re("^[2-9]$")}
	byDefault := choice
	byDefault.ProjectPrefsDefaultTrue = true
	linux, other := computer("Linux", ubuntu), "plan_class another version of the operating system"
	for _, c := range []struct {
		name    string
		prepare func(w *world)
		class   match.PlanClass
		want    string
	}{
		{"os_regex", linux, match.PlanClass{Computer: match.Computer{OSRegex: re("18[.]04")}}, ""},
		{"os_regex of others", linux, match.PlanClass{Computer: match.Computer{OSRegex: re("^Debian")}}, other},
		{"min_os_version", linux, match.PlanClass{Computer: match.Computer{MinOSVersion: 41500}}, ""},
		{"min_os_version, too old", linux, match.PlanClass{Computer: match.Computer{MinOSVersion: 41501}}, other},
		{"max_os_version, too new", linux, match.PlanClass{Computer: match.Computer{MaxOSVersion: 41499}}, other},
		{"a kernel alone", computer("Linux", "6.1.0-9-amd64"), match.PlanClass{Computer: match.Computer{MinOSVersion: 60100, MaxOSVersion: 60100}}, ""},
		{"of macOS", computer("Darwin", "22.6.0"), match.PlanClass{Computer: match.Computer{MinOSVersion: 220600, MaxOSVersion: 220600}}, ""},
		{"of Windows", computer("Microsoft Windows 10", "Professional x64 Edition, (10.00.19045.00)"), match.PlanClass{Computer: match.Computer{MinOSVersion: 1001904500, MaxOSVersion: 1001904500}}, ""},
		{"a version that cannot be told", computer("Plan9", "4"), match.PlanClass{Computer: match.Computer{MaxOSVersion: 1e6}}, other},
		{"min_android_version", computer("Android", "3.4.0 (Android 4.3)"), match.PlanClass{Computer: match.Computer{MinAndroidVersion: 40300, MaxAndroidVersion: 40300}}, ""},
		{"max_android_version", computer("Android", "3.4.0 (Android 5)"), match.PlanClass{Computer: match.Computer{MaxAndroidVersion: 40300}}, "plan_class another version of Android"},
		{"Android for Linux", linux, match.PlanClass{Computer: match.Computer{MaxAndroidVersion: 40300}}, "plan_class another version of Android"},
		{"min_libc_version", linux, match.PlanClass{Computer: match.Computer{MinLibcVersion: 227}}, ""},
		{"min_libc_version, too old", linux, match.PlanClass{Computer: match.Computer{MinLibcVersion: 228}}, "plan_class another version of libc"},
		{"cpu_vendor_regex", linux, match.PlanClass{Computer: match.Computer{CPUVendorRegex: re("Intel")}}, ""},
		{"cpu_vendor_regex of others", linux, match.PlanClass{Computer: match.Computer{CPUVendorRegex: re("AMD")}}, "plan_class a processor of another vendor"},
		{"cpu_model_regex", linux, match.PlanClass{Computer: match.Computer{CPUModelRegex: re("i[79]-")}}, ""},
		{"cpu_model_regex of others", linux, match.PlanClass{Computer: match.Computer{CPUModelRegex: re("Xeon")}}, "plan_class another model of processor"},
		{"user_id", prefers(""), match.PlanClass{Computer: match.Computer{UserID: 7}}, ""},
		{"user_id of another", prefers(""), match.PlanClass{Computer: match.Computer{UserID: 8}}, "other "},
		{"infeasible_random, always", linux, match.PlanClass{Computer: match.Computer{InfeasibleRandom: 1}}, "other "},

		{"project_prefs_regex", prefers("<project_specific>\n<max_cores>4</max_cores>\n</project_specific>\n"), match.PlanClass{Choice: choice}, ""},
		{"project_prefs_regex at the top", prefers("<max_cores>4</max_cores>"), match.PlanClass{Choice: choice}, ""},
		{"project_prefs_regex, wanted otherwise", prefers("<project_specific><max_cores>1</max_cores></project_specific>"), match.PlanClass{Choice: byDefault}, "preferences leave out such tasks (max_cores)"},
		{"project_prefs_regex, nothing said", prefers(""), match.PlanClass{Choice: choice}, "preferences leave out such tasks (max_cores)"},
		{"project_prefs_default_true", prefers(""), match.PlanClass{Choice: byDefault}, ""},

		{"min_opencl_driver_revision", app("OpenCL 1.2 AMD-APP (1214.3)"), match.PlanClass{GPU: match.GPU{GPUType: "nvidia", OpenCL: true, MinOpenCLDriverRevision: 121430, MaxOpenCLDriverRevision: 121430}}, ""},
		{"min_opencl_driver_revision, too old", app("OpenCL 1.2 AMD-APP (1214.3)"), match.PlanClass{GPU: match.GPU{GPUType: "nvidia", OpenCL: true, MinOpenCLDriverRevision: 121431}}, "plan_class an NVIDIA GPU with another revision of the OpenCL driver"},
		{"max_opencl_driver_revision, too new", app("OpenCL 1.2 AMD-APP (1214.3)"), match.PlanClass{GPU: match.GPU{GPUType: "nvidia", OpenCL: true, MaxOpenCLDriverRevision: 121429}}, "plan_class an NVIDIA GPU with another revision of the OpenCL driver"},
		{"need_amd_libs", radeon, match.PlanClass{GPU: match.GPU{GPUType: "amd", NeedAMDLibs: true}}, ""},
		{"need_ati_libs", radeon, match.PlanClass{GPU: match.GPU{GPUType: "amd", NeedATILibs: true}}, "plan_class an AMD GPU with the libraries of ATI's driver"},
		{"min_metal_support", gpu(func(d *protocol.Coproc) { d.Kind, d.Metal = "apple_gpu", 5002 }), match.PlanClass{GPU: match.GPU{GPUType: "apple_gpu", MinMetalSupport: 5002}}, ""},
		{"min_metal_support, too old", gpu(func(d *protocol.Coproc) { d.Kind, d.Metal = "apple_gpu", 5001 }), match.PlanClass{GPU: match.GPU{GPUType: "apple_gpu", MinMetalSupport: 5002}}, "plan_class an Apple GPU with another version of Metal"},
		{"gpu_type_regex", linux, match.PlanClass{GPU: match.GPU{GPUTypeRegex: re("^(ATI|NVIDIA)$")}}, ""},
		{"gpu_type_regex of others", linux, match.PlanClass{GPU: match.GPU{GPUTypeRegex: re("^miner")}}, "plan_class a coprocessor of type ^miner"},

		{"opencl without gpu_type, and without OpenCL", linux, match.PlanClass{GPU: match.GPU{OpenCL: true}}, "plan_class a processor that OpenCL offers, in such a version"},
		{"opencl on CPUs", openCLCPU, match.PlanClass{GPU: match.GPU{OpenCL: true, MinOpenCLVersion: 102, DoublePrecisionFP: true}}, ""},
		{"opencl on CPUs, too old", openCLCPU, match.PlanClass{GPU: match.GPU{OpenCL: true, MinOpenCLVersion: 301}}, "plan_class a processor that OpenCL offers, in such a version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := gpuWorld()
			c.prepare(w)
			if errs := c.class.Check(); len(errs) > 0 {
				t.Errorf("the class: %v", errs)
			}
			if got := lackOf(w, c.class); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// openCLCPU has two drivers offer the host's processors.
func openCLCPU(w *world) {
	w.facts.Request.Host.OpenCLCPUs = []protocol.OpenCLCPU{
		{Platform: "old", OpenCL: protocol.OpenCL{DeviceVersion: "OpenCL 1.1"}},
		{Platform: "The pocl project", OpenCL: protocol.OpenCL{DeviceVersion: "OpenCL 3.0 PoCL HSTR: pthread", DoubleFP: 63}},
	}
}

// The number of devices that a task uses follows from the device and the volunteer.
func TestDevicesOfATask(t *testing.T) {
	tag := match.Choice{GPUUtilizationTag: "gpu_util"}
	for _, c := range []struct {
		name  string
		class match.PlanClass
		prefs string
		want  float64
	}{
		{"its memory has room for six", match.PlanClass{GPU: match.GPU{GPUType: "nvidia", NGPUs: -1, GPURAMUsedMB: 300}}, "", 1.0 / 6},
		{"its memory has room for one", match.PlanClass{GPU: match.GPU{GPUType: "nvidia", NGPUs: -1, GPURAMUsedMB: 2000}}, "", 1},
		{"a volunteer has two at a time", match.PlanClass{Choice: tag, GPU: match.GPU{GPUType: "nvidia"}}, "<gpu_util>0.5</gpu_util>", 0.5},
		{"a volunteer says nonsense", match.PlanClass{Choice: tag, GPU: match.GPU{GPUType: "nvidia"}}, "<gpu_util>-3</gpu_util>", 1},
		{"a part of a part", match.PlanClass{Choice: tag, GPU: match.GPU{GPUType: "nvidia", NGPUs: 0.5}}, "<gpu_util>1.7</gpu_util>", 0.85},
		{"of any type", match.PlanClass{GPU: match.GPU{GPUTypeRegex: regexp.MustCompile("VID"), NGPUs: 0.25}}, "", 0.25},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := gpuWorld()
			w.facts.Rules.PlanClasses["cuda"] = c.class
			w.facts.Volunteer.Prefs = c.prefs
			got, lack := match.NewHost(w.facts).Usage(w.facts.Catalog.Versions[1])
			if lack != nil || got.Coproc != "NVIDIA" || math.Abs(got.Count-c.want) > 1e-9 {
				t.Errorf("got %+v, %+v; want %v devices", got, lack, c.want)
			}
		})
	}
}

// A class that is for some workunits leaves the others to other versions.
func TestAClassForSomeWorkunits(t *testing.T) {
	for name, only := range map[string]match.Only{
		"by id": {MinWUID: 2, MaxWUID: 3}, "by batch": {MinBatch: 20, MaxBatch: 30},
	} {
		w := gpuWorld()
		w.facts.Request.CPUReqSeconds, w.facts.Request.Coprocs[0].ReqSeconds = 1e6, 1e6
		class := w.facts.Rules.PlanClasses["cuda"]
		class.Only = only
		w.facts.Rules.PlanClasses["cuda"] = class
		for id := range int64(4) {
			w.add(func(c *store.Candidate) { c.WorkunitID, c.Batch = id+1, 10*(id+1) })
		}
		m, _ := w.assign()
		if got, want := versions(m), []int64{11, 12, 12, 11}; !slices.Equal(got, want) {
			t.Errorf("%s: versions %v, want %v", name, got, want)
		}
	}
}

// The same request meets the same fate when its decision is made again, and a part of all
// requests meets each.
func TestInfeasibleByChance(t *testing.T) {
	refused := 0
	for turn := range int64(400) {
		w := gpuWorld()
		w.facts.Turn, w.facts.Host.ID = turn, 5
		class := match.PlanClass{Computer: match.Computer{InfeasibleRandom: 0.25}, GPU: match.GPU{GPUType: "nvidia"}}
		first := lackOf(w, class)
		if again := lackOf(w, class); again != first {
			t.Fatalf("got %q and %q", first, again)
		}
		if first != "" {
			refused++
		}
	}
	if refused < 60 || refused > 140 {
		t.Errorf("%d of 400 requests are refused, want about 100", refused)
	}
}

func TestPlanClassesThatMakeNoSense(t *testing.T) {
	for want, class := range map[string]match.PlanClass{
		"gpu_ram_used_mb has to say": {GPU: match.GPU{GPUType: "nvidia", NGPUs: -1}},
		"out of range, want 0 to 1":  {Computer: match.Computer{InfeasibleRandom: 2}},
		"-3 is out of range":         {Only: match.Only{MinWUID: -3}},
		"is missing, and other keys": {GPU: match.GPU{MinGPURAMMB: 5}},
	} {
		errs := class.Check()
		if len(errs) != 1 || !strings.Contains(errs[0].Text, want) {
			t.Errorf("got %v, want %q", errs, want)
		}
	}
}

// A task on several CPUs uses as many as there is memory for.
func TestMemoryForEachCPU(t *testing.T) {
	for _, c := range []struct {
		name   string
		class  match.PlanClass
		memory float64 // of the host, in MB
		want   match.Usage
		lacks  float64 // in MB
	}{
		{"for all", match.PlanClass{MaxThreads: 8, NThreadsCmdline: true, Memory: match.Memory{MemUsageBaseMB: 100, MemUsagePerCPUMB: 200}}, 4000, match.Usage{NCPUs: 4, Memory: 900 << 20, Cmdline: "--memory_size_mb 900 --nthreads 4"}, 0},
		{"for two", match.PlanClass{MaxThreads: 8, Memory: match.Memory{MemUsageBaseMB: 100, MemUsagePerCPUMB: 200}}, 650, match.Usage{NCPUs: 2, Memory: 500 << 20, Cmdline: "--memory_size_mb 500"}, 0},
		{"for too few", match.PlanClass{MaxThreads: 8, MinNCPUs: 3, Memory: match.Memory{MemUsageBaseMB: 100, MemUsagePerCPUMB: 200}}, 650, match.Usage{}, 700},
		{"for each means nothing without a number of CPUs to choose", match.PlanClass{AvgNCPUs: 3, Memory: match.Memory{MemUsagePerCPUMB: 9000}}, 650, match.Usage{NCPUs: 3}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := gpuWorld()
			w.facts.Request.Host.NCPUs, w.facts.Request.Host.MemBytes = 4, c.memory*(1<<20)
			w.facts.Rules.PlanClasses["cuda"] = c.class
			got, lack := match.NewHost(w.facts).Usage(w.facts.Catalog.Versions[1])
			if c.lacks > 0 {
				if lack == nil || lack.Code != protocol.RefusedMemory || lack.Need != c.lacks*(1<<20) {
					t.Errorf("got %+v, %+v", got, lack)
				}
				return
			}
			if lack != nil || got.NCPUs != c.want.NCPUs || got.Memory != c.want.Memory || got.Cmdline != c.want.Cmdline {
				t.Errorf("got %+v, %+v", got, lack)
			}
		})
	}
}
