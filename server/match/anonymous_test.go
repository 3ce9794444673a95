package match_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
)

// anonymous makes the host of a world one that computes with programs of its volunteer's own.
func (w *world) anonymous(versions ...protocol.AppVersion) *world {
	w.facts.Rules.AnonymousPlatform = true
	w.facts.Request.Platform, w.facts.Request.AppVersions = "anonymous", versions
	return w
}

var mine = protocol.AppVersion{AppName: "upper", VersionNum: 801, Platform: linux, PlanClass: "fast", AvgNCPUs: 1, Flops: 4e9}

func TestAVolunteersOwnProgramsGetWork(t *testing.T) {
	slow := mine
	slow.VersionNum, slow.PlanClass, slow.Flops = 900, "slow", 2e9
	w := newWorld().anonymous(slow, mine, protocol.AppVersion{AppName: "lower", VersionNum: 1})
	w.facts.Catalog.Versions[0].Plain = true
	w.add()
	m, got := w.assign()
	if !slices.Equal(got, []int64{1}) {
		t.Fatalf("got %v, %+v", got, m.Refusals())
	}
	a := m.Assigned()[0]
	if v := a.Version; v.ID != store.AnonymousVersion(1, "") || v.VersionNum != 801 || v.PlanClass != "fast" || v.Platform.Name != linux || !v.Plain {
		t.Errorf("got version %+v, want the fastest of those that the host lists", v)
	}
	if u := a.Usage; u.NCPUs != 1 || u.Flops != 4e9 || u.Declared != 4e9 || u.Benchmark != 4e9 {
		t.Errorf("usage %+v", u)
	}
	if a.Duration.Seconds() != 900 {
		t.Errorf("it takes %v, want 900 s by what the client says", a.Duration)
	}
}

// Run times of the project's versions are not used for the volunteer's own. The speed that the
// client reports is used only until the version's own results give a better estimate.
func TestOwnProgramsAreTimedApart(t *testing.T) {
	w := newWorld().anonymous(mine)
	own := store.AnonymousVersion(1, "")
	w.facts.Learnt = map[int64]store.HostAppVersion{
		11:  {Vote: 150, Elapsed: speed.Average{N: 20, Mean: 1e-6}},
		own: {Elapsed: speed.Average{N: speed.Enough, Mean: 1e-9}},
	}
	w.add()
	m, _ := w.assign()
	if u := m.Assigned()[0].Usage; math.Abs(u.Flops-1e9) > 1 || u.Declared != 4e9 {
		t.Errorf("usage %+v, want the speed of the host's own results", u)
	}
	w.standing.Earned[own] = store.HostAppVersion{NJobsToday: 4, MaxJobsPerDay: 2}
	w.facts.Rules.DailyResultQuota = 8
	if m, got := w.assign(); len(got) != 0 || m.Refusals()[0].Code != protocol.RefusedQuota {
		t.Errorf("got %v, %+v; want the quota of its own record", got, m.Refusals())
	}
}

func TestOwnProgramsThatAreOfNoUse(t *testing.T) {
	gpu := mine
	gpu.Coproc, gpu.CoprocCount = "NVIDIA", 1
	fake := mine
	fake.Coproc = "fake"
	other := mine
	other.AppName = "lower"
	change := func(w *world, f func(a *store.App)) {
		a := w.facts.Catalog.Apps[1]
		f(&a)
		w.facts.Catalog.Apps[1] = a
	}
	for _, tt := range []struct {
		name    string
		version protocol.AppVersion
		prepare func(w *world)
		want    protocol.RefusalCode
		detail  string
	}{
		{"it is of another application", other, nil, protocol.RefusedAppInfo, ""},
		{"it needs a GPU that is not there", gpu, nil, protocol.RefusedPlanClass, "NVIDIA"},
		{
			"it needs a coprocessor without a number", fake,
			func(w *world) { w.facts.Request.Coprocs = []protocol.Coproc{{Kind: "fake", Count: 1}} }, protocol.RefusedAppInfo, "fake",
		},
		{"results are compared within one version", mine, func(w *world) { change(w, func(a *store.App) { a.HomogeneousAppVersion = true }) }, protocol.RefusedAppInfo, "own programs"},
		{"the project wants none", mine, func(w *world) { w.facts.Rules.AnonymousPlatform = false }, protocol.RefusedAppInfo, ""},
		{"the application is stopped", mine, func(w *world) { change(w, func(a *store.App) { a.Deprecated = true }) }, protocol.RefusedStopped, ""},
		{"it needs too much memory", mine, func(w *world) { w.list[0].RscMemoryBound = 99 * gb }, protocol.RefusedMemory, ""},
		{"none is listed", protocol.AppVersion{}, nil, protocol.RefusedAppInfo, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld().anonymous(tt.version)
			w.add()
			if tt.prepare != nil {
				tt.prepare(w)
			}
			m, got := w.assign()
			if why := m.Refusals()[0]; len(got) != 0 || why.Code != tt.want || why.App != "upper" || !strings.Contains(why.Detail, tt.detail) {
				t.Errorf("got %v, %+v; want %s about %q", got, why, tt.want, tt.detail)
			}
		})
	}
}

// Programs on GPUs count for the limits of these.
func TestOwnProgramsOnGPUs(t *testing.T) {
	gpu := mine
	gpu.Coproc, gpu.CoprocCount, gpu.AvgNCPUs = "NVIDIA", 0.5, 0.1
	w := newWorld().anonymous(mine, gpu)
	w.facts.Request.CPUReqSeconds = 0
	w.facts.Request.Coprocs = []protocol.Coproc{{Kind: "NVIDIA", Count: 1, ReqSeconds: 1, ReqInstances: 1}}
	w.facts.Rules.MaxWusInProgressGPU = 1
	w.add()
	m, got := w.assign()
	if len(got) != 1 || m.Assigned()[0].Version.ID != store.AnonymousVersion(1, "NVIDIA") || m.Assigned()[0].Usage.Count != 0.5 {
		t.Fatalf("got %+v, %+v", m.Assigned(), m.Refusals())
	}
	w.standing.InProgress = map[string]int{store.AnonymousClass("NVIDIA"): 1}
	if m, got := w.assign(); len(got) != 0 || m.Refusals()[0].Code != protocol.RefusedInProgress || m.Refusals()[0].Kind != "NVIDIA" {
		t.Errorf("one more than the limit: %v, %+v", got, m.Refusals())
	}
	kinds := w.facts.Catalog.Kinds(w.facts.Request, nil)
	if len(kinds) != 2 || !kinds[""] || !kinds["NVIDIA"] {
		t.Errorf("kinds %v", kinds)
	}
}

// A result that was sent to a volunteer's own program is sent to that program again, and not to
// another.
func TestCanRunOwn(t *testing.T) {
	h := match.NewHost(newWorld().anonymous(mine).facts)
	if v := h.CanRun(store.AnonymousVersion(1, "")); v == nil || v.VersionNum != 801 {
		t.Errorf("its own: %+v", v)
	}
	if v := h.CanRun(11); v != nil {
		t.Errorf("the project's: %+v", v)
	}
	if v := match.NewHost(newWorld().facts).CanRun(store.AnonymousVersion(1, "")); v != nil {
		t.Errorf("of a host without own programs: %+v", v)
	}
}
