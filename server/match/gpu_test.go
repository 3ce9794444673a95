package match_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// gpuWorld has an application with a version for CPUs, one for a GPU of NVIDIA and one for
// a generic coprocessor, and a host of two CPUs with the GPU, which asks for a day of both.
func gpuWorld() *world {
	w := newWorld()
	for i, class := range []string{"cuda", "fake"} {
		w.facts.Catalog.Versions = append(w.facts.Catalog.Versions, &store.AppVersion{
			ID: int64(12 + i), AppID: 1, VersionNum: 100, Platform: store.Platform{Name: linux}, PlanClass: class,
		})
	}
	w.facts.Rules.PlanClasses = map[string]match.PlanClass{
		"cuda": {GPU: match.GPU{GPUType: "nvidia", MinGPURAMMB: 1000, GPUPeakFlopsScale: 0.2, CPUFrac: 0.01}},
		"fake": {GPU: match.GPU{GPUType: "fake", NGPUs: 0.5}},
	}
	w.facts.Request.Coprocs = []protocol.Coproc{{
		Kind: "NVIDIA", Count: 1, Name: "Card", Memory: 2 * gb, PeakFlops: 1e12, Version: "55090", CUDA: 12040, Major: 8, Minor: 6, ReqSeconds: 1000, ReqInstances: 1,
		OpenCL: &protocol.OpenCL{DeviceVersion: "OpenCL 3.0 CUDA", GlobalMem: 3 * gb, DoubleFP: 63},
	}}
	return w
}

// versions returns the versions for the results of a decision.
func versions(m *match.Match) (out []int64) {
	for _, a := range m.Assigned() {
		out = append(out, a.Version.ID)
	}
	return out
}

func TestEachKindOfProcessorIsFilled(t *testing.T) {
	gpu := func(w *world) *protocol.Coproc { return &w.facts.Request.Coprocs[0] }
	for _, tt := range []struct {
		name    string
		prepare func(w *world)
		want    []int64 // versions
	}{
		// A result takes 3600 s of a CPU, and on the GPU 54 s, since 1/100 of it is done by the CPU.
		{"GPU first, as it is faster, then the CPUs", func(w *world) { w.facts.Request.CPUReqSeconds = 7000; gpu(w).ReqSeconds = 80 }, []int64{12, 12, 11, 11}},
		{"the GPU alone", func(w *world) { w.facts.Request.CPUReqSeconds = 0; gpu(w).ReqSeconds = 80 }, []int64{12, 12}},
		{"the CPUs alone", func(w *world) {
			w.facts.Request.CPUReqSeconds = 7000
			gpu(w).ReqSeconds, gpu(w).ReqInstances = 0, 0
		}, []int64{11, 11}},
		{"an idle GPU without a wish for time", func(w *world) {
			w.facts.Request.CPUReqSeconds = 0
			gpu(w).ReqSeconds = 0
		}, []int64{12}},
		{"a limit on the GPU", func(w *world) {
			w.facts.Rules.MaxWusInProgressGPU = 2
			w.standing.InProgress = map[string]int{"": 9, "cuda": 1}
			w.facts.Request.CPUReqSeconds = 3000
		}, []int64{12, 11}},
		{"a limit on the CPUs", func(w *world) {
			w.facts.Rules.MaxWusInProgress = 1
			w.standing.InProgress = map[string]int{"": 2, "cuda": 9}
			gpu(w).ReqSeconds = 1
		}, []int64{12}},
		{"a quota of the GPU", func(w *world) {
			w.facts.Rules.DailyResultQuota, w.facts.Rules.GPUMultiplier = 1, 3
			w.facts.Request.CPUReqSeconds = 1
		}, []int64{12, 12, 12, 11}},
		{"results a reply", func(w *world) {
			w.facts.Rules.MaxWusToSend, w.facts.Rules.GPUMultiplier = 1, 2
		}, []int64{12, 12, 12, 12}},
		{"a busy GPU", func(w *world) {
			gpu(w).ReqInstances, gpu(w).Delay = 0, 25*time.Hour
			w.facts.Request.CPUReqSeconds = 1
		}, []int64{11}},
		{"another kind of GPU", func(w *world) { gpu(w).Kind = "ATI"; w.facts.Request.CPUReqSeconds = 1 }, []int64{11}},
		{"halves of a coprocessor", func(w *world) {
			*gpu(w) = protocol.Coproc{Kind: "fake", Count: 1, PeakFlops: 1e10, ReqInstances: 1}
			w.facts.Request.CPUReqSeconds = 0
		}, []int64{13, 13}},
		{"two kinds beside the CPUs", func(w *world) {
			w.facts.Request.CPUReqSeconds = 1
			gpu(w).ReqSeconds, gpu(w).ReqInstances = 1, 0
			w.facts.Request.Coprocs = append(w.facts.Request.Coprocs, protocol.Coproc{Kind: "fake", Count: 1, PeakFlops: 1e10, ReqSeconds: 1})
		}, []int64{12, 13, 11}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := gpuWorld()
			tt.prepare(w)
			for range 9 {
				w.add()
			}
			m, _ := w.assign()
			if got := versions(m); !slices.Equal(got, tt.want) {
				t.Errorf("got versions %v, want %v; refused: %+v", got, tt.want, m.Noted())
			}
		})
	}
}

func TestRefusalsOfGPUs(t *testing.T) {
	only := func(w *world, class string) {
		list := w.facts.Catalog.Versions
		w.facts.Catalog.Versions = slices.DeleteFunc(list, func(v *store.AppVersion) bool { return v.PlanClass != class })
	}
	plan := func(change func(c *match.PlanClass)) func(w *world) {
		return func(w *world) {
			only(w, "cuda")
			c := w.facts.Rules.PlanClasses["cuda"]
			change(&c)
			w.facts.Rules.PlanClasses["cuda"] = c
		}
	}
	for _, tt := range []struct {
		name    string
		prepare func(w *world)
		want    protocol.Refusal
	}{
		{"no GPU", func(w *world) { only(w, "cuda"); w.facts.Request.Coprocs = nil }, protocol.Refusal{Code: protocol.RefusedPlanClass, Detail: "an NVIDIA GPU"}},
		{"no coprocessor", func(w *world) { only(w, "fake") }, protocol.Refusal{Code: protocol.RefusedPlanClass, Kind: "fake", Detail: "a coprocessor of type fake"}},
		{"only CPU work is wanted", func(w *world) {
			only(w, "cuda")
			w.facts.Request.Coprocs[0].ReqSeconds, w.facts.Request.Coprocs[0].ReqInstances = 0, 0
		}, protocol.Refusal{Code: protocol.RefusedProcessor}},
		{"only GPU work is wanted", func(w *world) { only(w, ""); w.facts.Request.CPUReqSeconds = 0 }, protocol.Refusal{Code: protocol.RefusedProcessor, Kind: "-"}},
		{"too little memory", plan(func(c *match.PlanClass) { c.MinGPURAMMB = 3000 }), protocol.Refusal{
			Code: protocol.RefusedPlanClass, Need: 3000 << 20, Have: 2 * gb, Detail: "an NVIDIA GPU with 3000 MB of memory",
		}},
		{"memory by OpenCL", plan(func(c *match.PlanClass) { c.OpenCL, c.MinGPURAMMB = true, 4000 }), protocol.Refusal{
			Code: protocol.RefusedPlanClass, Need: 4000 << 20, Have: 3 * gb, Detail: "an NVIDIA GPU with 4000 MB of memory",
		}},
		{"an old driver", plan(func(c *match.PlanClass) { c.MinDriverVersion = 60000 }), protocol.Refusal{
			Code: protocol.RefusedPlanClass, Need: 60000, Have: 55090, Detail: "an NVIDIA GPU with another driver version",
		}},
		{"an old CUDA", plan(func(c *match.PlanClass) { c.CUDA, c.MinCUDAVersion = true, 13000 }), protocol.Refusal{
			Code: protocol.RefusedPlanClass, Need: 13000, Have: 12040, Detail: "an NVIDIA GPU with another CUDA version",
		}},
		{"too new a device", plan(func(c *match.PlanClass) { c.MaxNVIDIACompcap = 800 }), protocol.Refusal{
			Code: protocol.RefusedPlanClass, Need: 800, Have: 806, Detail: "an NVIDIA GPU with another compute capability",
		}},
		{"too old an OpenCL", plan(func(c *match.PlanClass) { c.OpenCL, c.MinOpenCLVersion = true, 301 }), protocol.Refusal{
			Code: protocol.RefusedPlanClass, Need: 301, Have: 300, Detail: "an NVIDIA GPU with another OpenCL version",
		}},
		{"more devices than there are", plan(func(c *match.PlanClass) { c.NGPUs = 2 }), protocol.Refusal{
			Code: protocol.RefusedPlanClass, Need: 2, Have: 1, Detail: "2 of NVIDIA GPU",
		}},
		{"a key that is not supported", plan(func(c *match.PlanClass) { c.Unsupported = []string{"wsl"} }), protocol.Refusal{
			Code: protocol.RefusedPlanClass, Kind: "-", Detail: "a server that knows wsl",
		}},
		{"an old client", plan(func(c *match.PlanClass) { c.MinCoreVersion = 80300 }), protocol.Refusal{
			Code: protocol.RefusedClientVersion, Kind: "-", Need: 80300, Have: 80200, Detail: "BOINC 8.3.0 or newer",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := gpuWorld()
			tt.prepare(w)
			w.add()
			want := tt.want
			want.App, want.Count = "upper", 1
			switch want.Kind {
			case "":
				want.Kind = "NVIDIA"
			case "-":
				want.Kind = ""
			}
			if m, given := w.assign(); len(given) > 0 || !slices.Equal(m.Refusals(), []protocol.Refusal{want}) {
				t.Errorf("given %v, refused for %+v, want %+v", given, m.Refusals(), want)
			}
		})
	}
}

// The usage of a version follows from its class and the device, as on BOINC's server.
func TestUsageOfGPUs(t *testing.T) {
	for _, tt := range []struct {
		name  string
		class match.PlanClass
		want  match.Usage
	}{
		{
			// 1/100 of an operation at 1 GFLOPS and 99/100 at 200 make 1.495e-11 s.
			"a part of the work on the CPU",
			match.PlanClass{GPU: match.GPU{GPUType: "nvidia", MinGPURAMMB: 1000, GPUPeakFlopsScale: 0.2, CPUFrac: 0.01}},
			match.Usage{NCPUs: 0.01e-9 / 1.495e-11, Count: 1, GPURAM: 1000 << 20, Benchmark: 1 / 1.495e-11},
		},
		{
			"what BOINC's server takes where nothing is said",
			match.PlanClass{GPU: match.GPU{GPUType: "nvidia"}},
			match.Usage{NCPUs: 1e-10 / 1.009e-10, Count: 1, Benchmark: 1 / 1.009e-10},
		},
		{
			"half a device, its own number of CPUs, and a scale",
			match.PlanClass{AvgNCPUs: 0.25, ProjectedFlopsScale: 2, GPU: match.GPU{GPUType: "nvidia", GPURAMUsedMB: 300, NGPUs: 0.5, CPUFrac: 0.01}},
			match.Usage{NCPUs: 0.25, Count: 0.5, GPURAM: 300 << 20, Benchmark: 2 / 1.198e-11},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := gpuWorld()
			w.facts.Rules.PlanClasses["cuda"] = tt.class
			got, lack := match.NewHost(w.facts).Usage(w.facts.Catalog.Versions[1])
			near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-3*b }
			if lack != nil || got.Coproc != "NVIDIA" || !near(got.NCPUs, tt.want.NCPUs) || got.Count != tt.want.Count || got.GPURAM != tt.want.GPURAM || !near(got.Benchmark, tt.want.Benchmark) {
				t.Errorf("got %+v, %+v, want %+v", got, lack, tt.want)
			}
		})
	}
	w := gpuWorld()
	w.facts.Request.Coprocs[0].PeakFlops = 0
	if got, lack := match.NewHost(w.facts).Usage(w.facts.Catalog.Versions[1]); lack != nil || got.NCPUs != 0.01 || got.Benchmark != 1e9 {
		t.Errorf("without a peak speed: %+v, %+v; want 0.01 CPUs and the speed of one", got, lack)
	}
}

// A result of a workunit that is committed to a version for GPUs is only sent to GPUs.
func TestAVersionForGPUsCommits(t *testing.T) {
	w := gpuWorld()
	w.facts.Catalog.Apps[1] = store.App{ID: 1, Name: "upper", HomogeneousAppVersion: true}
	for _, v := range []int64{12, 11, 13} {
		w.add(func(c *store.Candidate) { c.AppVersionID = v })
	}
	m, given := w.assign()
	if got := versions(m); !slices.Equal(got, []int64{12, 11}) || !slices.Equal(given, []int64{1, 2}) {
		t.Errorf("given %v with versions %v: %+v", given, got, m.Noted())
	}
}

func TestKinds(t *testing.T) {
	w := gpuWorld()
	kinds := w.facts.Catalog.Kinds(&protocol.SchedulerRequest{Platform: linux}, w.facts.Rules.PlanClasses)
	if len(kinds) != 3 || !kinds[""] || !kinds["NVIDIA"] || !kinds["fake"] {
		t.Errorf("got %v", kinds)
	}
	if kinds := w.facts.Catalog.Kinds(&protocol.SchedulerRequest{Platform: windows}, w.facts.Rules.PlanClasses); len(kinds) != 0 {
		t.Errorf("for another platform: %v", kinds)
	}
}

// If all results of a workunit must come from one version, a host with several kinds of processors
// computes all its results of the workunit on one kind, even if another kind is idle.
func TestAWorkunitsResultsGoToOneVersion(t *testing.T) {
	w := gpuWorld()
	app := w.facts.Catalog.Apps[1]
	app.HomogeneousAppVersion = true
	w.facts.Catalog.Apps[1] = app
	w.facts.Request.CPUReqSeconds, w.facts.Request.Coprocs[0].ReqSeconds = 1, 1
	for _, workunit := range []int64{7, 7, 8} {
		w.add(func(c *store.Candidate) { c.WorkunitID = workunit })
	}
	m, given := w.assign()
	if got := versions(m); !slices.Equal(got, []int64{12, 11}) || !slices.Equal(given, []int64{1, 3}) {
		t.Errorf("given %v with versions %v; refused: %+v", given, got, m.Noted())
	}
}
