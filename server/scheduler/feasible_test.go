package scheduler_test

import (
	"slices"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// withClass adds a version of a plan class.
func (w *world) withClass(class string, c match.PlanClass) {
	w.t.Helper()
	w.addClass("x86_64-pc-linux-gnu", class, c)
}

// addClass adds one for a platform.
func (w *world) addClass(platform, class string, c match.PlanClass) {
	w.t.Helper()
	if w.s.Config.PlanClasses == nil {
		w.s.Config.PlanClasses = make(map[string]match.PlanClass)
	}
	w.s.Config.PlanClasses[class] = c
	doc := protocol.FileInfo{Name: "upper_200_" + class, NBytes: 10, Executable: true, Signature: "aa\n."}.XML() +
		protocol.AppVersion{Cmdline: "-v", FileRefs: []protocol.FileRef{{FileName: "upper_200_" + class, MainProgram: true}}}.XML()
	w.update(func(tx *store.Tx) error {
		_, err := storetest.AddVersion(tx, platform, store.AppVersion{AppID: w.App.ID, VersionNum: 200, PlanClass: class, XMLDoc: doc})
		return err
	})
}

// onlyClass leaves a version of a plan class alone in the world.
func (w *world) onlyClass(class string, c match.PlanClass) {
	w.t.Helper()
	w.withClass(class, c)
	w.update(func(tx *store.Tx) error {
		list, err := tx.AppVersions()
		if err != nil {
			return err
		}
		for _, v := range list {
			if v.PlanClass == "" {
				err = tx.DeprecateVersion(v.ID)
			}
		}
		return err
	})
}

const gb = 1 << 30

// The host of the capture has 25.3 GB of memory, and its volunteer allows 90 % of it. It has 80 GB
// of free disk, with 5 GB allowed and 69 632 bytes in use. It downloads 26.9 MB/s, and has two CPUs
// with AVX-512.
func TestRefusals(t *testing.T) {
	needs := func(change func(wu *store.Workunit)) func(w *world) {
		return func(w *world) { w.addWork("a", 1, change) }
	}
	for _, tt := range []struct {
		name    string
		prepare func(w *world)
		changes []string
		want    protocol.Refusal
	}{
		{"nothing there", func(*world) {}, nil, protocol.Refusal{Code: protocol.RefusedNoTasks}},
		{
			"memory, of which 90 % are allowed", needs(func(wu *store.Workunit) { wu.RscMemoryBound = 24e9 }), nil,
			protocol.Refusal{Code: protocol.RefusedMemory, App: "upper", Count: 1, Need: 24e9, Have: 22748851814.4},
		},
		{
			"disk, of which 5 GB are allowed", needs(func(wu *store.Workunit) { wu.RscDiskBound = 6 * gb }), nil,
			protocol.Refusal{Code: protocol.RefusedDisk, App: "upper", Count: 1, Need: 6 * gb, Have: 5*gb - 69632},
		},
		{
			"disk, of which a share is allowed", needs(func(wu *store.Workunit) { wu.RscDiskBound = 4 * gb }),
			[]string{"<disk_max_used_pct>90", "<disk_max_used_pct>1"},
			protocol.Refusal{Code: protocol.RefusedDisk, App: "upper", Count: 1, Need: 4 * gb, Have: 2705531740.16 - 69632},
		},
		{
			"disk, of which some stays free", needs(func(wu *store.Workunit) { wu.RscDiskBound = 4 * gb }),
			[]string{"<disk_min_free_gb>0.1", "<disk_min_free_gb>74.5"},
			protocol.Refusal{Code: protocol.RefusedDisk, App: "upper", Count: 1, Need: 4 * gb, Have: 73756672},
		},
		{
			"bandwidth", needs(func(wu *store.Workunit) { wu.RscBandwidthBound = 1e8 }), nil,
			protocol.Refusal{Code: protocol.RefusedBandwidth, App: "upper", Count: 1, Need: 1e8, Have: 26923771.805859},
		},
		{
			"the deadline, for what is queued and the time it is on", needs(func(wu *store.Workunit) { wu.RscFpopsEst = 1e12 }),
			[]string{"<estimated_delay>0.0", "<estimated_delay>2000.0", "<on_frac>1.0", "<on_frac>0.5"},
			protocol.Refusal{Code: protocol.RefusedDeadline, App: "upper", Count: 1, Need: 4000, Have: 3600},
		},
		{
			"CPUs for a plan class", func(w *world) { w.onlyClass("mt", match.PlanClass{MinNCPUs: 4}); w.addWork("a", 1) }, nil,
			protocol.Refusal{Code: protocol.RefusedPlanClass, App: "upper", Count: 1, Need: 4, Have: 2, Detail: "4 CPUs that may compute"},
		},
		{
			"CPUs that the volunteer allows", func(w *world) { w.onlyClass("mt", match.PlanClass{MinNCPUs: 2}); w.addWork("a", 1) },
			[]string{"<max_ncpus_pct>100", "<max_ncpus_pct>50"},
			protocol.Refusal{Code: protocol.RefusedPlanClass, App: "upper", Count: 1, Need: 2, Have: 1, Detail: "2 CPUs that may compute"},
		},
		{
			"a feature of the processor", func(w *world) {
				w.onlyClass("amx", match.PlanClass{CPUFeature: []string{"AVX512F", "amx_tile"}})
				w.addWork("a", 1)
			}, nil,
			protocol.Refusal{Code: protocol.RefusedPlanClass, App: "upper", Count: 1, Detail: "a processor with amx_tile"},
		},
		{
			"memory for a plan class", func(w *world) { w.onlyClass("big", match.PlanClass{MinMemoryMB: 1 << 20}); w.addWork("a", 1) }, nil,
			protocol.Refusal{Code: protocol.RefusedMemory, App: "upper", Count: 1, Need: 1 << 40, Have: 25276502016},
		},
		{
			"another platform", func(w *world) { w.addWork("a", 1) },
			[]string{"x86_64-pc-linux-gnu", "z80-cpm"},
			protocol.Refusal{Code: protocol.RefusedPlatform},
		},
		{
			"a newer client", func(w *world) { w.s.Config.MinCoreVersion = "8.0" }, nil,
			protocol.Refusal{Code: protocol.RefusedClientVersion, Need: 80000, Have: 72005},
		},
		{
			"only GPU work is wanted", func(w *world) { w.addWork("a", 1) },
			[]string{">86400<", ">0<", "</scheduler_request>", "<coprocs><coproc_cuda><count>1</count><req_secs>9</req_secs></coproc_cuda></coprocs></scheduler_request>"},
			protocol.Refusal{Code: protocol.RefusedGPU, Kind: "NVIDIA"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.prepare(w)
			got := w.send(capture(t, "01-first-contact-with-work", tt.changes...))
			if len(got.Results) != 0 || !slices.Equal(got.Refusals, []protocol.Refusal{tt.want}) {
				t.Errorf("%d results, refused for %+v; want %+v", len(got.Results), got.Refusals, tt.want)
			}
			if len(got.Messages) == 0 {
				t.Error("nothing is said to the volunteer")
			}
		})
	}
}

func TestManyReasonsAreToldByApplication(t *testing.T) {
	w := newWorld(t)
	w.addWork("a", 2, func(wu *store.Workunit) { wu.RscMemoryBound = 1e15 })
	w.addWork("b", 1, func(wu *store.Workunit) { wu.RscMemoryBound = 1e14 })
	w.addWork("c", 1, func(wu *store.Workunit) { wu.RscBandwidthBound = 1e10 })
	got := w.first()
	want := []protocol.Refusal{
		{Code: protocol.RefusedMemory, App: "upper", Count: 3, Need: 1e14, Have: 22748851814.4},
		{Code: protocol.RefusedBandwidth, App: "upper", Count: 1, Need: 1e10, Have: 26923771.805859},
	}
	if !slices.Equal(got.Refusals, want) {
		t.Errorf("got %+v, want %+v", got.Refusals, want)
	}
}

func TestPlanClassIsUsedWhereItIsFaster(t *testing.T) {
	for _, tt := range []struct {
		name    string
		class   match.PlanClass
		want    string // plan class
		ncpus   float64
		cmdline string
		sent    int // of tasks that take half a day each, for a day asked for
	}{
		{"on two CPUs", match.PlanClass{MinNCPUs: 2, MaxThreads: 8, NThreadsCmdline: true}, "x", 2, "-v --nthreads 2", 2},
		{"with other instructions", match.PlanClass{CPUFeature: []string{"avx2"}, ProjectedFlopsScale: 2}, "x", 1, "-v", 4},
		{"not where it is slower", match.PlanClass{ProjectedFlopsScale: 0.5}, "", 1, "", 2},
		{"not where it does not run", match.PlanClass{MinNCPUs: 3, MaxThreads: 3}, "", 1, "", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.withClass("x", tt.class)
			w.addWork("a", 9, func(wu *store.Workunit) { wu.RscFpopsEst, wu.RscFpopsBound, wu.DelayBound = 43200e9, 1e15, 1e15 })
			got := w.first()
			if len(got.AppVersions) != 1 || len(got.Results) != tt.sent {
				t.Fatalf("%d versions, %d results, want 1, %d: %s", len(got.AppVersions), len(got.Results), tt.sent, texts(got))
			}
			v := got.AppVersions[0]
			if v.PlanClass != tt.want || v.AvgNCPUs != tt.ncpus || v.Cmdline != tt.cmdline {
				t.Errorf("got class %q, %v CPUs, %q", v.PlanClass, v.AvgNCPUs, v.Cmdline)
			}
			if got.Results[0].PlanClass != tt.want {
				t.Errorf("result of class %q", got.Results[0].PlanClass)
			}
		})
	}
}

func TestNoMoreThanCanBeDoneInTime(t *testing.T) {
	w := newWorld(t)
	w.addWork("a", 9, func(wu *store.Workunit) { wu.RscFpopsEst, wu.RscFpopsBound = 1500e9, 1e15 }) // 25 minutes, of the hour allowed
	got := w.send(capture(t, "01-first-contact-with-work", "<cpu_req_instances>0.0", "<cpu_req_instances>2.0"))
	if len(got.Results) != 4 {
		t.Errorf("got %d results, want 4: two for each CPU", len(got.Results))
	}
}

func TestNoMoreThanTheDiskHolds(t *testing.T) {
	w := newWorld(t)
	w.addWork("a", 9, func(wu *store.Workunit) { wu.RscDiskBound = 2 * gb })
	if got := w.first(); len(got.Results) != 2 {
		t.Errorf("got %d results, want 2 in 5 GB", len(got.Results))
	}
}
