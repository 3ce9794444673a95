package match_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

const gb = 1 << 30

var t0 = time.Unix(1_800_000_000, 0)

const (
	linux   = "x86_64-pc-linux-gnu"
	windows = "windows_x86_64"
)

// A world is a requesting host and the project's applications, versions and results.
type world struct {
	facts    match.Facts
	standing match.Standing
	list     []store.Candidate
}

// newWorld has an application with a version, and a host of two CPUs of 1 GFLOPS that asks
// for a day of work.
func newWorld() *world {
	return &world{
		facts: match.Facts{
			Now: t0, Speeds: hostversion.NewSpeeds(nil, nil), Turn: 1,
			Catalog: &match.Catalog{
				Apps:     map[int64]store.App{1: {ID: 1, Name: "upper"}},
				Versions: []*store.AppVersion{{ID: 11, AppID: 1, VersionNum: 100, Platform: store.Platform{Name: linux}}},
			},
			Request: &protocol.SchedulerRequest{
				Platform: linux, Client: protocol.Version{Major: 8, Minor: 2}, CPUReqSeconds: 86400,
				Host: protocol.HostInfo{NCPUs: 2, Fpops: 1e9, MemBytes: 8 * gb, DiskTotal: 100 * gb, DiskFree: 10 * gb, Features: "sse2 avx2"},
			},
			Host: store.Host{ID: 5, UserID: 3, OSName: "Linux", Vendor: "GenuineIntel", Model: "Intel(R) Core(TM) i7"}, Team: 4,
		},
		standing: match.Standing{Earned: map[int64]store.HostAppVersion{}, Had: map[int64]bool{}},
	}
}

// add appends a candidate with a separate workunit that takes an hour.
func (w *world) add(change ...func(c *store.Candidate)) {
	n := int64(len(w.list) + 1)
	c := store.Candidate{ID: n, WorkunitID: 100 + n, AppID: 1, RscFpopsEst: 3600e9, DelayBound: 24 * time.Hour}
	for _, f := range change {
		f(&c)
	}
	w.list = append(w.list, c)
}

func (w *world) assign() (*match.Match, []int64) {
	m := match.Case{Facts: w.facts, Standing: w.standing, Candidates: w.list}.Decide()
	return m, ids(m.Assigned())
}

func ids(list []match.Assignment) (out []int64) {
	for _, a := range list {
		out = append(out, a.ID)
	}
	return out
}

func TestRefusals(t *testing.T) {
	req := func(w *world) *protocol.SchedulerRequest { return w.facts.Request }
	app := func(w *world, change func(a *store.App)) {
		a := w.facts.Catalog.Apps[1]
		change(&a)
		w.facts.Catalog.Apps[1] = a
	}
	class := func(name string, c match.PlanClass) func(w *world) {
		return func(w *world) {
			w.facts.Catalog.Versions[0].PlanClass = name
			w.facts.Rules.PlanClasses = map[string]match.PlanClass{"x": c}
			w.add()
		}
	}
	for _, tt := range []struct {
		name    string
		prepare func(w *world)
		want    protocol.Refusal // App is "upper" and Count 1, but where Count is −1: none
		given   []int64
		small   bool
	}{
		{"nothing is there", func(*world) {}, protocol.Refusal{Code: protocol.RefusedNoTasks, Count: -1}, nil, false},
		{
			"it needs more memory than is allowed", func(w *world) {
				req(w).WorkingPrefs = "<ram_max_used_idle_pct>50</ram_max_used_idle_pct>"
				w.add(func(c *store.Candidate) { c.RscMemoryBound = 5 * gb })
			}, protocol.Refusal{Code: protocol.RefusedMemory, Need: 5 * gb, Have: 4 * gb}, nil, true,
		},
		{
			"it needs more disk than is free", func(w *world) { w.add(func(c *store.Candidate) { c.RscDiskBound = 11 * gb }) },
			protocol.Refusal{Code: protocol.RefusedDisk, Need: 11 * gb, Have: 10 * gb},
			nil, true,
		},
		{
			"the disk is filled by what goes before", func(w *world) {
				for range 2 {
					w.add(func(c *store.Candidate) { c.RscDiskBound = 6 * gb })
				}
			}, protocol.Refusal{Code: protocol.RefusedDisk, Need: 6 * gb, Have: 4 * gb}, []int64{1}, false,
		},
		{
			"it needs a faster download", func(w *world) {
				req(w).NetStats.BwDown = 1e6
				w.add(func(c *store.Candidate) { c.RscBandwidthBound = 2e6 })
			}, protocol.Refusal{Code: protocol.RefusedBandwidth, Need: 2e6, Have: 1e6}, nil, true,
		},
		{
			"what is queued makes it late", func(w *world) {
				req(w).EstimatedDelay, req(w).TimeStats.OnFrac, req(w).TimeStats.ActiveFrac = 23*time.Hour, 1, 0.5
				w.add()
			}, protocol.Refusal{Code: protocol.RefusedDeadline, Need: 25 * 3600, Have: 24 * 3600}, nil, false,
		},
		{
			"what goes before makes it late", func(w *world) {
				req(w).CPUReqInstances = 2
				for range 3 {
					w.add(func(c *store.Candidate) { c.DelayBound = 90 * time.Minute })
				}
			}, protocol.Refusal{Code: protocol.RefusedDeadline, Need: 2 * 3600, Have: 5400}, []int64{1, 2}, false,
		},
		{
			"there is no version for its platform", func(w *world) { req(w).Platform = windows; w.add() },
			protocol.Refusal{Code: protocol.RefusedPlatform},
			nil, false,
		},
		{
			"its client is too old for the version", func(w *world) { w.facts.Catalog.Versions[0].MinCoreVersion = 804; w.add() },
			protocol.Refusal{Code: protocol.RefusedClientVersion, Need: 80400, Have: 80200, Detail: "BOINC 8.4 or newer"},
			nil, false,
		},
		{
			"its client is too new for the version", func(w *world) { w.facts.Catalog.Versions[0].MaxCoreVersion = 716; w.add() },
			protocol.Refusal{Code: protocol.RefusedClientVersion, Need: 71600, Have: 80200, Detail: "BOINC 7.16 or older"},
			nil, false,
		},
		{
			"the plan class wants more CPUs", class("x", match.PlanClass{MinNCPUs: 3}),
			protocol.Refusal{Code: protocol.RefusedPlanClass, Need: 3, Have: 2, Detail: "3 CPUs that may compute"},
			nil, false,
		},
		{
			"the plan class wants a feature", class("x", match.PlanClass{CPUFeature: []string{"avx2", "avx512f"}}),
			protocol.Refusal{Code: protocol.RefusedPlanClass, Detail: "a processor with avx512f"},
			nil, false,
		},
		{
			"the plan class wants more memory", class("x", match.PlanClass{MinMemoryMB: 16 << 10}),
			protocol.Refusal{Code: protocol.RefusedMemory, Need: 16 * gb, Have: 8 * gb},
			nil, false,
		},
		{
			"nobody knows the plan class", class("y", match.PlanClass{}),
			protocol.Refusal{Code: protocol.RefusedPlanClass, Detail: "a computer of plan class y, which the project has not defined"},
			nil, false,
		},
		{
			"the quota of the version is met", func(w *world) {
				w.facts.Rules.DailyResultQuota = 2
				w.standing.Earned[11] = store.HostAppVersion{NJobsToday: 3}
				w.add()
				w.add()
			}, protocol.Refusal{Code: protocol.RefusedQuota, Need: 5, Have: 4}, []int64{1}, false,
		},
		{
			"the quota is lower after failures", func(w *world) {
				w.facts.Rules.DailyResultQuota = 10
				w.standing.Earned[11] = store.HostAppVersion{NJobsToday: 2, MaxJobsPerDay: 1}
				w.add()
			}, protocol.Refusal{Code: protocol.RefusedQuota, Need: 3, Have: 2}, nil, false,
		},
		{
			"as many are in progress as may be", func(w *world) {
				w.facts.Rules.MaxWusInProgress, w.facts.Rules.MaxNCPUs = 3, 1
				w.standing.InProgress = map[string]int{"": 4}
				w.add()
			}, protocol.Refusal{Code: protocol.RefusedInProgress, Need: 5, Have: 3, Count: -1}, nil, false,
		},
		{
			"what it has fails, and the workunit has one chance left", func(w *world) {
				w.standing.Earned[11] = store.HostAppVersion{ErrorRate: 0.26}
				w.standing.Earned[12] = store.HostAppVersion{ErrorRate: 0}
				w.add(func(c *store.Candidate) { c.LastChance, c.CreateTime = true, t0 })
				w.add()
			}, protocol.Refusal{Code: protocol.RefusedUnreliable}, []int64{2}, false,
		},
		{
			"only trusted accounts get results of a suspicious workunit", func(w *world) {
				w.add(func(c *store.Candidate) { c.Suspicious = true })
				w.add()
			}, protocol.Refusal{Code: protocol.RefusedTrusted}, []int64{2}, false,
		},
		{
			"it has too few valid results for an urgent one", func(w *world) {
				w.facts.Rules.Urgent = match.Urgent{OnPriority: 5}
				w.standing.Earned[11] = store.HostAppVersion{TurnaroundN: 9}
				w.add(func(c *store.Candidate) { c.Priority, c.CreateTime = 5, t0.Add(-23*time.Hour) })
				w.add(func(c *store.Candidate) { c.Priority, c.CreateTime = 5, t0.Add(-25*time.Hour) }) // no reliable host took it
				w.add(func(c *store.Candidate) { c.Priority, c.CreateTime = 4, t0 })
			}, protocol.Refusal{Code: protocol.RefusedUnreliable}, []int64{2, 3}, false,
		},
		{
			"it returns results too late for an urgent one", func(w *world) {
				w.facts.Rules.Urgent = match.Urgent{OnPriority: 5, MaxAvgTurnaround: 3600}
				w.standing.Earned[11] = store.HostAppVersion{TurnaroundN: 10, Turnaround: 3601}
				w.add(func(c *store.Candidate) { c.Priority, c.CreateTime = 6, t0 })
			}, protocol.Refusal{Code: protocol.RefusedUnreliable}, nil, false,
		},
		{
			"the shorter time for an urgent one is too short after what is queued", func(w *world) {
				w.facts.Rules.Urgent = match.Urgent{OnPriority: 5, ReducedDelayBound: 0.5}
				w.standing.Earned[11] = store.HostAppVersion{TurnaroundN: 10}
				req(w).EstimatedDelay = 12 * time.Hour
				w.add(func(c *store.Candidate) { c.Priority, c.CreateTime = 5, t0 })
			}, protocol.Refusal{Code: protocol.RefusedDeadline, Need: 13 * 3600, Have: 12 * 3600}, nil, false,
		},
		{
			"it is for another computer or account", func(w *world) {
				w.add(func(c *store.Candidate) { c.Target = store.Target{Type: store.TargetHost, ID: 3} })
				w.add(func(c *store.Candidate) { c.Target = store.Target{Type: store.TargetHost, ID: 5} })
				w.add(func(c *store.Candidate) { c.Target = store.Target{Type: store.TargetUser, ID: 3} })
				w.add(func(c *store.Candidate) { c.Target = store.Target{Type: store.TargetTeam, ID: 4} })
			}, protocol.Refusal{Code: protocol.RefusedOther}, []int64{2, 3, 4}, false,
		},
		{
			"it had a result of the workunit", func(w *world) {
				w.facts.Rules.OneResultPerUserPerWU = true
				w.standing.Had[101] = true
				w.add()
			}, protocol.Refusal{Code: protocol.RefusedHasOne}, nil, false,
		},
		{
			"it gets a result of the workunit", func(w *world) {
				w.facts.Rules.OneResultPerHostPerWU = true
				for range 2 {
					w.add(func(c *store.Candidate) { c.WorkunitID = 7 })
				}
			}, protocol.Refusal{Code: protocol.RefusedHasOne}, []int64{1}, false,
		},
		{
			"it is kept for another", func(w *world) { w.add(func(c *store.Candidate) { c.ReservedUntil = t0.Add(time.Second) }) },
			protocol.Refusal{Code: protocol.RefusedReserved},
			nil, false,
		},
		{
			"the workunit is for hosts of another class", func(w *world) {
				app(w, func(a *store.App) { a.HomogeneousRedundancy = 2 })
				w.add(func(c *store.Candidate) { c.HRClass = 385 })
			}, protocol.Refusal{Code: protocol.RefusedCommitted}, nil, false,
		},
		{
			"the host is of no known class", func(w *world) {
				app(w, func(a *store.App) { a.HomogeneousRedundancy = 1 })
				w.facts.Host.Model = "?"
				w.add()
			}, protocol.Refusal{Code: protocol.RefusedCommitted}, nil, false,
		},
		{
			"the workunit is for another version", func(w *world) {
				app(w, func(a *store.App) { a.HomogeneousAppVersion = true })
				w.facts.Catalog.Versions = append(w.facts.Catalog.Versions, &store.AppVersion{ID: 12, AppID: 1, Platform: store.Platform{Name: windows}})
				w.add(func(c *store.Candidate) { c.AppVersionID = 12 })
			}, protocol.Refusal{Code: protocol.RefusedCommitted}, nil, false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			tt.prepare(w)
			if tt.want.Count == -1 {
				tt.want.Count = 0
			} else {
				tt.want.App, tt.want.Count = "upper", 1
			}
			m, given := w.assign()
			if !slices.Equal(given, tt.given) {
				t.Errorf("given %v, want %v", given, tt.given)
			}
			if got := m.Refusals(); !slices.Equal(got, []protocol.Refusal{tt.want}) {
				t.Errorf("refused %+v, want %+v", got, tt.want)
			}
			if small := len(m.TooSmall()) > 0; small != tt.small {
				t.Errorf("too small: %v", m.TooSmall())
			}
		})
	}
}

// A result that the caller cannot send is refused, and leaves room for the ones after it.
func TestTheCallerHasTheLastWord(t *testing.T) {
	w := newWorld()
	for range 3 {
		w.add(func(c *store.Candidate) { c.RscDiskBound = 4 * gb })
	}
	m := match.NewHost(w.facts).Match(w.standing)
	got := ids(m.Assign(w.list, func(a match.Assignment) bool { return a.ID != 1 }))
	if want := []int64{2, 3}; !slices.Equal(got, want) {
		t.Errorf("given %v, want %v", got, want)
	}
	if got, want := m.Noted(), []protocol.Refusal{{Code: protocol.RefusedOther, App: "upper", Count: 1}}; !slices.Equal(got, want) {
		t.Errorf("refused %+v, want %+v", got, want)
	}
}

// Refusals of a kind become one. Refusals that waiting does not solve are listed first.
func TestRefusalsAreSummedUp(t *testing.T) {
	w := newWorld()
	w.add(func(c *store.Candidate) { c.ReservedUntil = t0.Add(time.Hour) })
	w.add(func(c *store.Candidate) { c.RscMemoryBound = 90 * gb })
	w.add(func(c *store.Candidate) { c.RscMemoryBound = 80 * gb })
	m, _ := w.assign()
	want := []protocol.Refusal{
		{Code: protocol.RefusedMemory, App: "upper", Count: 2, Need: 80 * gb, Have: 8 * gb},
		{Code: protocol.RefusedReserved, App: "upper", Count: 1},
	}
	if got := m.Refusals(); !slices.Equal(got, want) {
		t.Errorf("refused %+v, want %+v", got, want)
	}
	later := match.NewHost(w.facts).Match(w.standing)
	later.Recall(m.Noted(), m.TooSmall())
	if got := later.Refusals(); !slices.Equal(got, want) || len(later.TooSmall()) != 2 {
		t.Errorf("recalled %+v, %v; want %+v", got, later.TooSmall(), want)
	}
}

// A kind is looked at as a whole: its results may be of use, so it is not refused, even though
// these are too large. The host is busy for twelve hours.
func TestKind(t *testing.T) {
	w := newWorld()
	w.facts.Request.EstimatedDelay = 12 * time.Hour
	for _, tt := range []struct {
		name    string
		c       store.Candidate
		want    bool
		refused int
	}{
		{"small enough", store.Candidate{RscMemoryBound: 2 * gb, DelayBound: 24 * time.Hour}, true, 0},
		{"others of the kind may be small enough", store.Candidate{RscMemoryBound: 8.005 * gb, DelayBound: 24 * time.Hour}, true, 0},
		{"all of the kind are too large", store.Candidate{RscMemoryBound: 17 * gb, DelayBound: 24 * time.Hour}, false, 2},
		{"others of the kind may have the time", store.Candidate{DelayBound: 7 * time.Hour}, true, 0},
		{"none of the kind has the time", store.Candidate{DelayBound: 5 * time.Hour}, false, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := match.NewHost(w.facts).Match(w.standing)
			tt.c.ID, tt.c.AppID = 1, 1
			for range 2 { // once work is looked for again, nothing is noted twice
				got := m.Kind([]store.Candidate{tt.c, tt.c})
				refused := 0
				for _, f := range m.Noted() {
					refused += f.Count
				}
				if got != tt.want || refused != tt.refused {
					t.Errorf("got %v, %d refused; want %v, %d", got, refused, tt.want, tt.refused)
				}
				m.Had(nil)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	w := newWorld()
	w.facts.Rules.PlanClasses = map[string]match.PlanClass{"mt": {MaxThreads: 8, NThreadsCmdline: true, ProjectedFlopsScale: 1.5}}
	w.facts.Catalog.Versions = append(w.facts.Catalog.Versions, &store.AppVersion{ID: 12, AppID: 1, VersionNum: 90, PlanClass: "mt", Platform: store.Platform{Name: linux}})
	w.add()
	m, _ := w.assign()
	a := m.Assigned()[0]
	want := match.Usage{NCPUs: 2, Flops: 3e9, Benchmark: 3e9, Cmdline: "--nthreads 2"}
	if a.Version.ID != 12 || a.Usage != want || a.Duration != 20*time.Minute || a.Cost != 2400 {
		t.Errorf("got version %d, %+v, %v, cost %v; want 12, %+v, 20m0s, 2400", a.Version.ID, a.Usage, a.Duration, a.Cost, want)
	}
}

func TestWeightDividesTheCost(t *testing.T) {
	w := newWorld()
	w.facts.Catalog.Apps[1] = store.App{ID: 1, Weight: 4}
	w.add()
	w.add(func(c *store.Candidate) { c.RscFpopsEst = 1 }) // as if it took a nanosecond
	m, _ := w.assign()
	if got := m.Assigned(); got[0].Cost != 900 || got[1].Cost != 0.25 {
		t.Errorf("costs %v and %v, want 900 and 0.25", got[0].Cost, got[1].Cost)
	}
}

func TestCommit(t *testing.T) {
	never := func() bool { t.Error("asked for trust"); return false }
	w := newWorld()
	v := w.facts.Catalog.Versions[0]
	wu := store.Workunit{AppID: 1, TargetNResults: 1, MinQuorum: 1, TransitionTime: store.Never}
	for _, tt := range []struct {
		name    string
		app     store.App
		trusted func() bool
		want    func(wu *store.Workunit)
	}{
		{"nothing", store.App{}, never, func(*store.Workunit) {}},
		{"the class", store.App{HomogeneousRedundancy: 2}, never, func(wu *store.Workunit) { wu.HRClass = 257 }},
		{"the version", store.App{HomogeneousAppVersion: true}, never, func(wu *store.Workunit) { wu.AppVersionID = 11 }},
		{"no copies for a trusted host", store.App{TargetNResults: 2}, func() bool { return true }, func(*store.Workunit) {}},
		{"copies for any other", store.App{TargetNResults: 2}, func() bool { return false }, func(wu *store.Workunit) {
			wu.TargetNResults, wu.MinQuorum, wu.TransitionTime = 2, 2, t0
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.facts.Catalog.Apps[1] = tt.app
			want := wu
			tt.want(&want)
			got := match.NewHost(w.facts).Commit(wu, v, tt.trusted)
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if match.Commits(tt.app) == (tt.name == "nothing") {
				t.Errorf("Commits: %v", match.Commits(tt.app))
			}
		})
	}
}

func TestOfVersionsOfOneSpeedTheHighestNumberIsTaken(t *testing.T) {
	w := newWorld()
	w.facts.Rules.PlanClasses = map[string]match.PlanClass{"x": {}}
	for id, number := range map[int64]int{12: 101, 13: 99} {
		w.facts.Catalog.Versions = append(w.facts.Catalog.Versions, &store.AppVersion{
			ID: id, AppID: 1, VersionNum: number, PlanClass: "x", Platform: store.Platform{Name: linux},
		})
	}
	if got := match.NewHost(w.facts).Version(1); got.ID != 12 {
		t.Errorf("version %d of number %d, want 12", got.ID, got.VersionNum)
	}
}

// An urgent result has less time, but twice its duration if its delay bound allows that.
func TestUrgentResultsHaveLessTime(t *testing.T) {
	for _, tt := range []struct {
		name        string
		factor      float64
		bound, want time.Duration // for one that takes an hour
	}{
		{"half the time", 0.5, 24 * time.Hour, 12 * time.Hour},
		{"no factor", 0, 24 * time.Hour, 24 * time.Hour},
		{"twice what it takes", 0.1, 10 * time.Hour, 2 * time.Hour},
		{"no more than it ever has", 0.1, 90 * time.Minute, 90 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			w.facts.Rules.Urgent = match.Urgent{OnPriority: 5, ReducedDelayBound: tt.factor}
			w.standing.Earned[11] = store.HostAppVersion{TurnaroundN: 10}
			w.add(func(c *store.Candidate) { c.Priority, c.DelayBound = 5, tt.bound })
			w.add(func(c *store.Candidate) { c.Priority, c.DelayBound = 4, tt.bound })
			m, _ := w.assign()
			if got := m.Assigned(); len(got) != 2 || got[0].Within != tt.want || got[1].Within != tt.bound {
				t.Errorf("got %+v, want %v and %v", got, tt.want, tt.bound)
			}
		})
	}
}

// Work for one computer is sent there whatever its record is, since no other computer may have it.
func TestWorkForOneComputerNeedsNoGoodRecord(t *testing.T) {
	w := newWorld()
	w.facts.Rules.Urgent = match.Urgent{OnPriority: 5}
	w.standing.Earned[11] = store.HostAppVersion{ErrorRate: 0.9}
	target := store.Target{Type: store.TargetHost, ID: w.facts.Host.ID}
	w.add(func(c *store.Candidate) { c.Target, c.LastChance, c.CreateTime = target, true, t0 })
	w.add(func(c *store.Candidate) { c.Target, c.Priority, c.CreateTime = target, 5, t0 })
	m, _ := w.assign()
	if got := m.Assigned(); len(got) != 2 {
		t.Errorf("%d results were assigned, want 2; refusals %v", len(got), m.Noted())
	}
	for i := range w.list {
		if m := match.NewHost(w.facts).Match(w.standing); !m.Kind(w.list[i : i+1]) {
			t.Errorf("the kind of result %d is of no use", i+1)
		}
		if fit := m.Fit(&w.list[i]); fit.Below != 0 {
			t.Errorf("results of priority %d are not looked for", fit.Below)
		}
	}
}

// If all results of a kind are on their last chance, or are for others, the whole kind is of no
// use, so that its results are not searched in vain.
func TestKindsOfNoUse(t *testing.T) {
	for name, change := range map[string]func(c *store.Candidate){
		"":             func(*store.Candidate) {},
		"last chance":  func(c *store.Candidate) { c.LastChance, c.CreateTime = true, t0 },
		"suspicious":   func(c *store.Candidate) { c.Suspicious = true },
		"another host": func(c *store.Candidate) { c.Target = store.Target{Type: store.TargetHost, ID: 6} },
	} {
		w := newWorld()
		w.standing.Earned[11] = store.HostAppVersion{ErrorRate: 0.3}
		w.add(change)
		if got, want := match.NewHost(w.facts).Match(w.standing).Kind(w.list), name == ""; got != want {
			t.Errorf("%q: of use %v, want %v", name, got, want)
		}
	}
}

func TestUnsuited(t *testing.T) {
	w := newWorld()
	for i, class := range []string{"mt", "avx2", "mt", "", "unknown", "big"} {
		w.facts.Catalog.Versions = append(w.facts.Catalog.Versions, &store.AppVersion{ID: int64(20 + i), AppID: 1, PlanClass: class})
	}
	classes := map[string]match.PlanClass{"mt": {MinNCPUs: 3}, "avx2": {CPUFeature: []string{"avx2"}}, "big": {MinMemoryMB: 1 << 10}, "unused": {MinNCPUs: 99}}
	req := protocol.SchedulerRequest{Host: protocol.HostInfo{NCPUs: 4, MemBytes: 2 << 30}}
	for _, tt := range []struct {
		name   string
		change func()
		want   string
	}{
		{"no feature", func() {}, "avx2 unknown"},
		{"too little memory", func() { req.Host.MemBytes /= 4 }, "avx2 big unknown"},
		{"the feature", func() { req.Host.Features = "fpu AVX2" }, "big unknown"},
		{"too few CPUs may compute", func() { req.WorkingPrefs = "<max_ncpus_pct>50</max_ncpus_pct>" }, "big mt unknown"},
	} {
		tt.change()
		if got := strings.Join(match.Unsuited(&req, w.facts.Catalog, classes), " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A plan class for GPUs suits a host that cannot use them in images if any version is not an image.
func TestUnsuitedForImages(t *testing.T) {
	classes := map[string]match.PlanClass{"cuda": {GPU: match.GPU{GPUType: "nvidia"}}}
	req := protocol.SchedulerRequest{Coprocs: []protocol.Coproc{{Kind: "NVIDIA", Count: 1}}}
	for _, tt := range []struct {
		noImages  bool
		platforms []string
		want      string
	}{
		{false, []string{"x86_64-linux-image"}, ""},
		{true, []string{"x86_64-linux-image", "aarch64-linux-image"}, "cuda"},
		{true, []string{"x86_64-linux-image", linux}, ""},
	} {
		var c match.Catalog
		for _, p := range tt.platforms {
			c.Versions = append(c.Versions, &store.AppVersion{AppID: 1, Platform: store.Platform{Name: p}, PlanClass: "cuda"})
		}
		req.Coprocs[0].NoImages = tt.noImages
		if got := strings.Join(match.Unsuited(&req, &c, classes), " "); got != tt.want {
			t.Errorf("%+v: got %q", tt, got)
		}
	}
}

// If the results just taken fill a host's disk, no more results of the kind are looked for.
func TestNoMoreThanThereIsRoomFor(t *testing.T) {
	w := newWorld()
	for range 3 {
		w.add(func(c *store.Candidate) { c.RscDiskBound = 4 * gb })
	}
	m := match.NewHost(w.facts).Match(w.standing)
	for i := range w.list {
		if got, want := m.More(&w.list[i]), i < 2; got != want {
			t.Errorf("with %d taken: more is of use: %v, want %v", i, got, want)
		}
		if m.Fits(&w.list[i]) {
			m.Take(w.list[i])
		}
	}
}
