package match_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/setting"
	"github.com/starling-grid/starling/server/store"
	"pgregory.net/rapid"
)

// draw makes a project, a host that asks it for work, and results that could be sent.
func draw(t *rapid.T) *world {
	w := newWorld()
	pick := func(name string, list ...float64) float64 { return rapid.SampledFrom(list).Draw(t, name) }
	number := func(name string, list ...int) int { return rapid.SampledFrom(list).Draw(t, name) }
	r := &w.facts.Rules
	r.MaxWusToSend, r.MaxWusInProgress = number("max_wus_to_send", 0, 1, 3), number("max_wus_in_progress", 0, 1, 4)
	r.DailyResultQuota, r.MaxNCPUs = number("daily_result_quota", 0, 1, 3), number("max_ncpus", 0, 1)
	r.OneResultPerUserPerWU, r.OneResultPerHostPerWU = rapid.Bool().Draw(t, "once a user"), rapid.Bool().Draw(t, "once a host")
	r.Urgent = match.Urgent{
		OnPriority: int64(number("reliable_on_priority", 0, 5)), MaxAvgTurnaround: setting.Seconds(3600 * number("reliable_max_avg_turnaround", 0, 10)),
		ReducedDelayBound: pick("reliable_reduced_delay_bound", 0, 0.5, 1),
	}
	r.MaxWusInProgressGPU, r.GPUMultiplier = number("max_wus_in_progress_gpu", 0, 1, 3), number("gpu_multiplier", 0, 2)
	r.PlanClasses = map[string]match.PlanClass{
		"mt":   {MinNCPUs: 2, MaxThreads: 4},
		"cuda": {GPU: match.GPU{GPUType: "nvidia", NGPUs: pick("ngpus", 0, 0.5, 2), MinGPURAMMB: 2048}},
		"fake": {GPU: match.GPU{GPUType: "fake"}},
	}

	cat := w.facts.Catalog
	cat.Apps, cat.Versions = make(map[int64]store.App), nil
	for id := range int64(rapid.IntRange(1, 3).Draw(t, "apps")) {
		cat.Apps[id+1] = store.App{
			ID: id + 1, Name: fmt.Sprint("app", id+1), Weight: pick("weight", 0, 0.5, 3),
			HomogeneousRedundancy: number("hr", 0, 0, 1, 2), HomogeneousAppVersion: rapid.IntRange(0, 3).Draw(t, "hav") == 0,
		}
	}
	for i := range int64(rapid.IntRange(0, 5).Draw(t, "versions")) {
		cat.Versions = append(cat.Versions, &store.AppVersion{
			ID: 10 + i, AppID: 1 + i%int64(len(cat.Apps)), VersionNum: 200 - int(i), Platform: store.Platform{Name: rapid.SampledFrom([]string{linux, linux, windows}).Draw(t, "platform")},
			PlanClass: rapid.SampledFrom([]string{"", "", "mt", "cuda", "fake", "?"}).Draw(t, "class"), MinCoreVersion: number("min_core_version", 0, 0, 0, 900),
		})
	}
	req := w.facts.Request
	req.Host.NCPUs = number("ncpus", 0, 1, 2, 8)
	req.Host.MemBytes, req.Host.DiskFree, req.NetStats.BwDown = pick("memory", 0, 4*gb, 8*gb), pick("disk", 0, 10*gb), pick("bandwidth", 0, 1e6)
	req.CPUReqSeconds, req.CPUReqInstances = pick("seconds", 0, 5000, 1e5, 1e9), pick("instances", 0, 1, 8)
	req.EstimatedDelay = time.Duration(number("delay", 0, 10, 100)) * time.Hour
	for _, kind := range []string{"NVIDIA", "fake"} {
		if rapid.Bool().Draw(t, "has "+kind) {
			req.Coprocs = append(req.Coprocs, protocol.Coproc{
				Kind: kind, Count: number("devices", 1, 2), Memory: pick("memory of the device", gb, 4*gb), PeakFlops: pick("peak flops", 0, 1e12),
				ReqSeconds: pick("device-seconds", 0, 5000, 1e5), ReqInstances: pick("idle devices", 0, 1, 2), Delay: time.Duration(number("delay of it", 0, 10)) * time.Hour,
			})
		}
	}
	req.TimeStats.OnFrac, req.TimeStats.ActiveFrac = pick("on", 0, 0.5, 1), pick("active", 0, 0.01, 1)
	w.facts.Trusted = rapid.Bool().Draw(t, "trusted")
	w.facts.Turn = int64(rapid.IntRange(0, 10).Draw(t, "turn"))
	if rapid.Bool().Draw(t, "an unknown processor") {
		w.facts.Host.Vendor = "?"
	}
	w.standing.InProgress = map[string]int{"": number("in progress", 0, 1, 9), "cuda": number("in progress on GPUs", 0, 1), "?": number("of no class", 0, 1)}
	for i := range int64(5) {
		w.standing.Earned[10+i] = store.HostAppVersion{NJobsToday: number("today", 0, 1, 5), MaxJobsPerDay: number("max_jobs_per_day", 0, 1, 2), ErrorRate: pick("error rate", 0, 0, 0.25, 0.3, 1), TurnaroundN: int64(number("valid", 0, 10, 10)), Turnaround: pick("turnaround", 3600, 360000)}
		w.standing.Had[100+i] = r.OneResultPerUserPerWU && rapid.Bool().Draw(t, "had")
	}
	for i := range int64(rapid.IntRange(0, 20).Draw(t, "candidates")) {
		c := store.Candidate{
			ID: 1000 + i, WorkunitID: 100 + int64(rapid.IntRange(0, 12).Draw(t, "workunit")), AppID: 1 + int64(rapid.IntRange(0, len(cat.Apps)-1).Draw(t, "app")),
			RscMemoryBound: pick("memory bound", 0, 3*gb, 7*gb), RscDiskBound: pick("disk bound", 0, gb, 4*gb, 10*gb, 11*gb), RscBandwidthBound: pick("bandwidth bound", 0, 9e5, 2e6),
			RscFpopsEst: pick("fpops", 0, 1e12, 1e14), DelayBound: time.Duration(number("delay bound", 1, 24, 500)) * time.Hour,
			HRClass: int64(number("class of the workunit", 0, 0, 257, 385)), AppVersionID: int64(number("version of the workunit", 0, 0, 10, 13, 99)),
		}
		if c.AppVersionID == 10 || c.AppVersionID == 13 { // or the next that is of the application
			c.AppVersionID += (c.AppID - 1 - (c.AppVersionID-10)%int64(len(cat.Apps)) + int64(len(cat.Apps))) % int64(len(cat.Apps))
		}
		c.Priority, c.CreateTime = int64(number("priority", 0, 0, 5, 6)), t0.Add(-time.Hour*time.Duration(number("age", 0, 23, 25)))
		c.Target = rapid.SampledFrom([]store.Target{
			{},
			{},
			{},
			{},
			{Type: store.TargetHost, ID: 5},
			{Type: store.TargetHost, ID: 3},
			{Type: store.TargetUser, ID: 3},
			{Type: store.TargetUser, ID: 5},
			{Type: store.TargetTeam, ID: 4},
			{Type: store.TargetTeam, ID: 5},
			{Type: store.TargetTeam, ID: 0},
		}).Draw(t, "target")
		c.Suspicious = rapid.IntRange(0, 4).Draw(t, "suspicious") == 0
		c.LastChance = rapid.IntRange(0, 2).Draw(t, "last chance") == 0
		if rapid.IntRange(0, 5).Draw(t, "reserved") == 0 {
			c.ReservedUntil = t0.Add(time.Hour)
		}
		w.list = append(w.list, c)
	}
	return w
}

// limit returns +Inf for 0, which means no limit in BOINC.
func limit(x float64) float64 {
	if x == 0 {
		return math.Inf(1)
	}
	return x
}

func (w *world) cpus() int {
	n := max(1, w.facts.Request.Host.NCPUs)
	if m := w.facts.Rules.MaxNCPUs; m > 0 {
		n = min(n, m)
	}
	return n
}

// check sees that no limit is passed.
func (w *world) check(t *rapid.T, given []match.Assignment) {
	r, req, disk := &w.facts.Rules, w.facts.Request, 0.0
	workunits, today := make(map[int64]bool), make(map[int64]int)
	pinned := make(map[int64]*store.AppVersion)                                                                   // version that computes their results, by workunit
	free := map[string][]time.Duration{"": idle(max(1, req.Host.NCPUs), req.CPUReqInstances, req.EstimatedDelay)} // when each processor is
	devices, gpus := make(map[string]protocol.Coproc), 0
	for _, c := range req.Coprocs {
		free[c.Kind], devices[c.Kind] = idle(c.Count, c.ReqInstances, c.Delay), c
		gpus += c.Count
	}
	on := make(map[string]int)
	for _, a := range given {
		kind := w.facts.Rules.PlanClasses[a.Version.PlanClass].Kind()
		if kind != a.Usage.Coproc {
			t.Fatalf("version of class %q computes on %q", a.Version.PlanClass, a.Usage.Coproc)
		}
		on[kind]++
		n, part := int(a.Usage.NCPUs), 1.0
		if d, has := devices[kind]; kind != "" {
			if !has || a.Usage.Count > float64(d.Count) || kind == "NVIDIA" && d.Memory < 2*gb {
				t.Fatalf("%+v goes to a host with %+v", a.Usage, devices)
			}
			if !d.WantsWork() {
				t.Fatalf("nothing was asked for %s", kind)
			}
			n, part = max(1, int(a.Usage.Count)), min(1, a.Usage.Count)
		} else if req.CPUReqSeconds <= 0 && req.CPUReqInstances <= 0 {
			t.Fatalf("nothing was asked for the CPUs")
		}
		free := free[kind]
		slices.Sort(free)
		begin := free[n-1]
		if begin > 0 && begin+a.Duration > a.Within || a.Within > a.DelayBound {
			t.Fatalf("begins after %v and takes %v of %v", begin, a.Duration, a.Within)
		}
		for i := range n {
			free[i] = begin + time.Duration(float64(a.Duration)*part)
		}
		if a.RscMemoryBound > limit(req.Host.MemBytes) || a.RscBandwidthBound > limit(req.NetStats.BwDown) {
			t.Fatalf("too large: %+v", a)
		}
		if a.ReservedUntil.After(t0) {
			t.Fatalf("reserved: %+v", a)
		}
		if x := a.Target; x.Type == store.TargetHost && x.ID != 5 || x.Type == store.TargetUser && x.ID != 3 || x.Type == store.TargetTeam && x.ID != 4 {
			t.Fatalf("host 5 of user 3 in team 4 is given what is for %+v", x)
		}
		disk += a.RscDiskBound
		if r.OneResultPerHostPerWU || r.OneResultPerUserPerWU {
			if workunits[a.WorkunitID] || !a.Target.Alone() && w.standing.Had[a.WorkunitID] {
				t.Fatalf("a second result of workunit %d", a.WorkunitID)
			}
			workunits[a.WorkunitID] = true
		}
		v := a.Version
		if v.AppID != a.AppID || v.Platform.Name != req.Platform || v.MinCoreVersion == 900 || v.PlanClass == "?" || v.PlanClass == "mt" && req.Host.NCPUs < 2 {
			t.Fatalf("version %+v cannot run", v)
		}
		app := w.facts.Catalog.Apps[a.AppID]
		if app.HomogeneousRedundancy != 0 && (w.facts.Host.Vendor == "?" || a.HRClass == 385 || app.HomogeneousRedundancy == 1 && a.HRClass == 257) {
			t.Fatalf("a workunit of class %d goes to a host of another", a.HRClass)
		}
		handedOut := slices.ContainsFunc(w.facts.Catalog.Versions, func(v *store.AppVersion) bool { return v.ID == a.AppVersionID })
		if app.HomogeneousAppVersion && handedOut && a.AppVersionID != v.ID {
			t.Fatalf("a workunit of version %d is computed with %d", a.AppVersionID, v.ID)
		}
		if app.HomogeneousAppVersion && a.AppVersionID == 0 {
			if other := pinned[a.WorkunitID]; other != nil && other != v {
				t.Fatalf("results of workunit %d are computed with versions %d and %d", a.WorkunitID, other.ID, v.ID)
			}
			pinned[a.WorkunitID] = v
		}
		if a.Suspicious && !w.facts.Trusted {
			t.Fatalf("a result of a suspicious workunit goes to an account that is not trusted")
		}
		e, u := w.standing.Earned[v.ID], &r.Urgent
		choosy, urgent := !a.Target.Alone() && t0.Sub(a.CreateTime) < 24*time.Hour, u.OnPriority > 0 && a.Priority >= u.OnPriority
		if most := float64(u.MaxAvgTurnaround); choosy && urgent &&
			(e.TurnaroundN < 10 || e.ErrorRate > 0.05 || most > 0 && e.Turnaround > most) {
			t.Fatalf("%+v is urgent and goes to a host with %+v", a, e)
		}
		if choosy && (a.LastChance || urgent) && e.ErrorRate > 0.25 {
			t.Fatalf("the last chance of a workunit goes to a host of which %v fails", e.ErrorRate)
		}
		today[v.ID]++
		if e := w.standing.Earned[v.ID]; r.DailyResultQuota > 0 && e.NJobsToday+today[v.ID] > hostversion.Quota(e, r.DailyResultQuota)*w.count(devices[kind]) {
			t.Fatalf("%d results of version %d", today[v.ID], v.ID)
		}
	}
	if disk > limit(req.Host.DiskFree) {
		t.Fatalf("%v bytes of disk", disk)
	}
	if most := r.MaxWusToSend * (w.cpus() + gpus*max(1, r.GPUMultiplier)); most > 0 && len(given) > most {
		t.Fatalf("%d results, at most %d", len(given), most)
	}
	had := map[string]int{"": w.standing.InProgress[""] + w.standing.InProgress["?"], "NVIDIA": w.standing.InProgress["cuda"]}
	for kind, n := range on {
		most := r.MaxWusInProgress * w.cpus()
		if kind != "" {
			most = r.MaxWusInProgressGPU * devices[kind].Count
		}
		if most > 0 && had[kind]+n > most {
			t.Fatalf("%d results in progress on %q, at most %d", had[kind]+n, kind, most)
		}
	}
}

// idle returns the times when each of n processors is free.
func idle(n int, idle float64, delay time.Duration) []time.Duration {
	free := make([]time.Duration, n)
	for i := range free {
		if float64(i) >= idle {
			free[i] = delay
		}
	}
	return free
}

// count returns the number of CPUs that the processors of a kind count as for quotas.
func (w *world) count(d protocol.Coproc) int {
	if d.Kind != "" {
		return d.Count * max(1, w.facts.Rules.GPUMultiplier)
	}
	return w.cpus()
}

func refused(m *match.Match) (n int) {
	for _, f := range m.Noted() {
		n += f.Count
	}
	return n
}

func TestNoLimitIsPassed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		m, _ := w.assign()
		w.check(t, m.Assigned())
	})
}

// Each candidate is assigned, refused, or behind the one that filled the request. No candidate is
// refused that would have fitted at its place in the order.
func TestEachCandidateHasItsAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		m, given := w.assign()
		looked := len(w.list)
		if m.Full() {
			looked = 0
			if n := len(given); n > 0 {
				looked = slices.IndexFunc(w.list, func(c store.Candidate) bool { return c.ID == given[n-1] }) + 1
			}
		}
		if got := len(given) + refused(m); got != looked {
			t.Fatalf("%d given and %d refused of %d: %+v", len(given), refused(m), looked, m.Noted())
		}
		if len(given) == 0 && len(m.Refusals()) == 0 {
			t.Fatal("nothing given and nothing refused")
		}
		one := match.NewHost(w.facts).Match(w.standing)
		for i := range w.list[:looked] {
			c := &w.list[i]
			n := len(one.Assigned())
			if fits, wanted := one.Fits(c), n < len(given) && given[n] == c.ID; fits != wanted {
				t.Fatalf("result %d fits: %v; given: %v", c.ID, fits, wanted)
			} else if fits {
				one.Take(*c)
			}
		}
	})
}

// Two Matches with the same facts make the same assignments, as in the transaction.
func TestTheSameFactsGiveTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		m, given := w.assign()
		w.list = nil
		for _, a := range m.Assigned() {
			w.list = append(w.list, a.Candidate)
		}
		if _, again := w.assign(); !slices.Equal(again, given) {
			t.Fatalf("given %v, then %v", given, again)
		}
	})
}

// A candidate that fits is of a kind of use and within the limits of the database query. Otherwise
// the feeder would hide it.
func TestTheFeederHidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		m := match.NewHost(w.facts).Match(w.standing)
		for i := range w.list {
			c := &w.list[i]
			f, fits := m.Fit(c), m.Fits(c)
			if !fits {
				continue
			}
			if !m.More(c) || !m.Kind(w.list[i:i+1]) {
				t.Fatalf("%+v fits, and its kind is of no use", *c)
			}
			const rounding = 1e-6 // of durations, in seconds
			if c.RscMemoryBound > f.Memory || c.RscDiskBound > f.Disk || c.RscBandwidthBound > f.Bandwidth || c.ReservedUntil.After(f.Now) ||
				f.Below != 0 && c.Priority >= f.Below && c.CreateTime.After(f.BelowSince) ||
				f.Wait+c.RscFpopsEst*f.PerFlop > c.DelayBound.Seconds()+rounding {
				t.Fatalf("%+v fits, and is not within %+v", *c, f)
			}
			if !m.Full() {
				m.Take(*c)
			}
		}
	})
}

// If the host had a result of a workunit before, the assignment is taken back, and makes room.
func TestHad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		w.facts.Rules.OneResultPerUserPerWU = true
		m, given := w.assign()
		had := map[int64]bool{100 + int64(rapid.IntRange(0, 12).Draw(t, "had")): true}
		back := m.Had(had)
		left := slices.DeleteFunc(slices.Clone(given), func(id int64) bool { return slices.Contains(back, id) })
		if got := ids(m.Assigned()); !slices.Equal(got, left) {
			t.Fatalf("given %v, %v back, left %v", given, back, got)
		}
		m.Assign(w.list, nil) // the others may have another chance
		for _, a := range m.Assigned() {
			if had[a.WorkunitID] && !a.Target.Alone() {
				t.Fatalf("given though it was had: %+v", a)
			}
		}
		w.check(t, m.Assigned())
	})
}

// No host is sent work that it could not finish in time. This is true for an idle host, too, unless
// the operator allows it because durations are only estimates.
func TestIdleHostsAndDeadlines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		exempt := rapid.Bool().Draw(t, "exempt")
		w.facts.Rules.IdleIgnoreDelayBound = exempt
		w.facts.Request.CPUReqInstances = 1
		w.facts.Request.Host.Fpops = rapid.Float64Range(1, 1e12).Draw(t, "flops")
		w.add(func(c *store.Candidate) {
			c.RscFpopsEst = rapid.Float64Range(0, 1e18).Draw(t, "fpops")
			c.DelayBound = time.Duration(rapid.IntRange(1, 1e6).Draw(t, "delay bound")) * time.Second
		})
		m, given := w.assign()
		if exempt && len(given) != 1 {
			t.Fatalf("refused: %+v", m.Noted())
		}
		for _, a := range m.Assigned() {
			if !exempt && a.Duration > a.DelayBound {
				t.Fatalf("takes %v, delay bound %v", a.Duration, a.DelayBound)
			}
		}
	})
}
