package scheduler_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// card is a GPU as a BOINC client describes it. It asks for a day of work.
const card = "<coproc_cuda><count>2</count><name>Card</name><available_ram>4294967296</available_ram><have_cuda>1</have_cuda>" +
	"<req_secs>86400</req_secs><req_instances>2</req_instances><estimated_delay>0</estimated_delay>" +
	"<peak_flops>1e12</peak_flops><cudaVersion>12040</cudaVersion><drvVersion>55090</drvVersion></coproc_cuda>"

// withGPUs adds coprocessors to a request.
func withGPUs(coprocs string, changes ...string) []string {
	return append(changes, "</scheduler_request>", "<coprocs>"+coprocs+"</coprocs></scheduler_request>")
}

// noCPU makes a request ask for nothing for the CPUs.
var noCPU = []string{">86400<", ">0<"}

const linux = "x86_64-pc-linux-gnu"

var cuda = match.PlanClass{GPU: match.GPU{GPUType: "nvidia", MinGPURAMMB: 1024, NGPUs: 0.5, CPUFrac: 0.01}}

func TestHostsAreToldOfWhichProcessorsThereIsNothing(t *testing.T) {
	const others = "<coproc_intel_gpu><count>1</count></coproc_intel_gpu><coproc><type>fake</type><count>1</count></coproc>"
	for _, tt := range []struct {
		name    string
		prepare func(w *world)
		changes []string
		want    []string
		results int
	}{
		{"nothing for GPUs", func(*world) {}, withGPUs(card + others), []string{"NVIDIA", "intel_gpu", "fake"}, 1},
		{"something for one of them", func(w *world) { w.addClass(linux, "cuda", cuda) }, withGPUs(card + others), []string{"intel_gpu", "fake"}, 1},
		{"a computer without them", func(w *world) { w.addClass(linux, "cuda", cuda) }, nil, nil, 1},
		{"nothing for CPUs", func(w *world) { w.onlyClass("cuda", cuda) }, withGPUs(card), []string{"CPU"}, 1},
		{"nothing at all, which is not said, or clients would not ask again", func(w *world) { w.onlyClass("cuda", cuda) }, withGPUs(others), nil, 0},
		{"something for another platform", func(w *world) { w.addClass("windows_x86_64", "cuda", cuda) }, withGPUs(card), []string{"NVIDIA"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.prepare(w)
			w.addWork("a", 1)
			got := w.send(capture(t, "01-first-contact-with-work", tt.changes...))
			if !slices.Equal(got.NoRscApps, tt.want) || len(got.Results) != tt.results {
				t.Errorf("no_rsc_apps %v, %d results; want %v, %d", got.NoRscApps, len(got.Results), tt.want, tt.results)
			}
		})
	}
}

// A reply has the amount of GPU that a task uses, and the host's record has its GPUs.
func TestGPUTasks(t *testing.T) {
	w := newWorld(t)
	w.addClass(linux, "cuda", cuda)
	w.addWork("a", 1)
	got := w.send(capture(t, "01-first-contact-with-work", withGPUs(card, noCPU...)...))
	if len(got.Results) != 1 || got.Results[0].PlanClass != "cuda" || len(got.AppVersions) != 1 {
		t.Fatalf("got %+v, %s", got.Results, texts(got))
	}
	v := got.AppVersions[0]
	var h store.Host
	w.update(func(tx *store.Tx) (err error) { h, err = tx.Host(got.HostID); return err })
	perOperation := 0.01/h.Fpops + 0.99/(0.5*1e12)
	if v.Coproc != "NVIDIA" || v.CoprocCount != 0.5 || v.GPURAM != 1<<30 || math.Abs(v.Flops*perOperation-1) > 1e-3 || math.Abs(v.AvgNCPUs*perOperation*h.Fpops/0.01-1) > 1e-3 {
		t.Errorf("app version %+v", v)
	}
	want := []store.Coproc{{Kind: "NVIDIA", Name: "Card", Count: 2, Memory: 4 << 30, Driver: "55090", PeakFlops: 1e12}}
	if !slices.Equal(h.Coprocessors(), want) {
		t.Errorf("coprocessors %+v, want %+v", h.Coprocessors(), want)
	}
	if r := w.result("a_0"); r.FlopsEstimate != v.Flops && math.Abs(r.FlopsEstimate/v.Flops-1) > 1e-6 {
		t.Errorf("flops %v, want %v", r.FlopsEstimate, v.Flops)
	}
}

// Results on GPUs count for the limit on GPUs alone, and those on CPUs for theirs.
func TestLimitsInProgressAreOfAKind(t *testing.T) {
	w := newWorld(t)
	w.s.Config.MaxWusInProgressGPU, w.s.Config.ResendLostResults = 1, false
	w.addClass(linux, "cuda", cuda)
	w.addWork("a", 3)
	host := w.send(capture(t, "01-first-contact-with-work", withGPUs(card, noCPU...)...)).HostID
	classes := func() (on, off int) {
		for _, name := range []string{"a_0", "a_1", "a_2"} {
			switch r := w.result(name); {
			case r.ServerState != store.InProgress:
			case r.VersionNum == 200:
				on++
			default:
				off++
			}
		}
		return on, off
	}
	if on, off := classes(); on != 2 || off != 0 {
		t.Fatalf("%d on GPUs, %d on CPUs; want 2 on 2 devices", on, off)
	}
	w.now = w.now.Add(time.Hour)
	got := w.as(host, 1, "15-too-soon-asks-work", withGPUs(card, noCPU...)...)
	if want := (protocol.Refusal{Code: protocol.RefusedInProgress, Kind: "NVIDIA", Need: 3, Have: 2}); len(got.Results) != 0 || !slices.Contains(got.Refusals, want) ||
		!strings.Contains(texts(got), "limit on tasks in progress for its NVIDIA GPU") {
		t.Errorf("got %d results, %+v, %s; want %+v", len(got.Results), got.Refusals, texts(got), want)
	}
	w.now = w.now.Add(time.Hour)
	w.as(host, 2, "15-too-soon-asks-work", withGPUs(card)...)
	if on, off := classes(); on != 2 || off != 1 {
		t.Errorf("%d on GPUs, %d on CPUs; want one on the CPUs beside", on, off)
	}
}

// A report of a result on a GPU makes no room on the CPUs, even if its version was withdrawn since.
func TestAWithdrawnVersionsResultsAreOfItsKind(t *testing.T) {
	w := newWorld(t)
	w.s.Config.MaxWusInProgress, w.s.Config.MaxWusInProgressGPU, w.s.Config.MaxNCPUs, w.s.Config.ResendLostResults = 1, 1, 1, false
	w.addClass(linux, "cuda", cuda)
	w.addWork("a", 3)
	got := w.send(capture(t, "01-first-contact-with-work", withGPUs(card)...))
	var onGPU, onCPU store.Result
	for _, x := range got.Results {
		if r := w.result(x.Name); x.PlanClass == "cuda" {
			onGPU = r
		} else if onCPU.ID != 0 {
			t.Fatal("two tasks for one CPU")
		} else {
			onCPU = r
		}
	}
	if onGPU.ID == 0 || onCPU.ID == 0 {
		t.Fatalf("got %+v, %s", got.Results, texts(got))
	}
	w.update(func(tx *store.Tx) error { return tx.DeprecateVersion(onGPU.AppVersionID) })
	w.addWork("b", 1)
	w.now = w.now.Add(time.Hour)
	report := "<result><name>" + onGPU.Name + "</name><state>5</state></result></scheduler_request>"
	got = w.as(got.HostID, 1, "15-too-soon-asks-work", "</scheduler_request>", report)
	if w.result(onGPU.Name).ServerState != store.Over || len(got.Results) != 0 {
		t.Errorf("got %+v, beside a task that fills the CPU", got.Results)
	}
}
