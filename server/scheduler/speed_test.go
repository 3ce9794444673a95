package scheduler_test

import (
	"math"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// teach stores that hosts with so many samples each take stretch times as long with a
// version as by a benchmark of 1e9.
func (w *world) teach(version int64, stretch float64, samples int, hosts ...int64) {
	w.t.Helper()
	w.update(func(tx *store.Tx) error {
		for _, id := range hosts {
			h, err := tx.HostAppVersion(id, version)
			if err != nil {
				return err
			}
			h.BenchmarkFlops = 1e9
			for range samples {
				h.Elapsed = h.Elapsed.Add(stretch*1000, 1e12)
			}
			h.Vote = h.Vote.Revote(h.Elapsed, h.BenchmarkFlops)
			if err := tx.SaveHostAppVersion(h); err != nil {
				return err
			}
		}
		return nil
	})
	w.now = w.now.Add(time.Minute) // the earlier run times are old
}

// versions returns the app versions' ids by plan class.
func (w *world) versions() map[string]int64 {
	w.t.Helper()
	ids := make(map[string]int64)
	w.update(func(tx *store.Tx) error {
		list, err := tx.AppVersions()
		for _, v := range list {
			ids[v.PlanClass] = v.ID
		}
		return err
	})
	return ids
}

func TestWhatHostsAreToldIsLearnt(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		w.addWork(name, 1, func(wu *store.Workunit) { wu.RscFpopsEst, wu.RscFpopsBound, wu.DelayBound = 1e9, 1e15, 1e15 })
	}
	id := w.versions()[""]
	first := w.send(capture(t, "01-first-contact-with-work", "<cpu_req_secs>86400", "<cpu_req_secs>1"))
	told := first.AppVersions[0].Flops
	w.update(func(tx *store.Tx) error {
		h, err := tx.HostAppVersion(first.HostID, id)
		if h.BenchmarkFlops == 0 || math.Abs(h.BenchmarkFlops/told-1) > 1e-9 {
			t.Errorf("noted %v, told %v", h.BenchmarkFlops, told)
		}
		return err
	})
	ask := func(seqno int) float64 {
		t.Helper()
		got := w.as(first.HostID, seqno, "01-first-contact-with-work", "<cpu_req_secs>86400", "<cpu_req_secs>1")
		if len(got.AppVersions) != 1 {
			t.Fatalf("no work: %s", texts(got))
		}
		return got.AppVersions[0].Flops
	}
	w.teach(id, 4, 1, 101, 102, 103, 104)
	if got := ask(1); got != told {
		t.Errorf("four hosts: %v, want %v still", got, told)
	}
	w.teach(id, 4, 1, 105)
	if got := ask(2); math.Abs(got/told*4-1) > 0.05 {
		t.Errorf("five hosts: %v, want a fourth of %v", got, told)
	}
	w.teach(id, 20, 10, first.HostID)
	if got := ask(3); math.Abs(got/5e7-1) > 1e-6 {
		t.Errorf("ten results of its own: %v, want 5e7", got)
	}
}

func TestTheFasterVersionIsTheOneThatProvedSo(t *testing.T) {
	for _, tt := range []struct {
		name            string
		plain, class    float64 // stretch of the version, 0 not known
		seqno           int
		want            string
		projectedFaster float64
	}{
		{"by what the operator says", 0, 0, 1, "x", 2},
		{"by what was learnt", 1, 4, 1, "", 2},
		{"what is slower by the operator's word may be the faster", 8, 1, 1, "x", 0.5},
		{"an estimate that is too high does not keep a new version out", 0.01, 0, 1, "x", 2},
		{"an estimate that is too low does not let a slow one in", 100, 0, 1, "", 0.5},
		{"though one request in ten", 100, 0, 7, "x", 0.5},
		{"not if it is far slower", 100, 0, 7, "", 0.1},
		{"nor if it is known", 1, 4, 7, "", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.withClass("x", match.PlanClass{ProjectedFlopsScale: tt.projectedFaster})
			w.addWork("a", 1)
			w.addWork("b", 1)
			host := w.send(capture(t, "01-first-contact-with-work", ">86400<", ">0<")).HostID
			ids := w.versions()
			hosts := []int64{101, 102, 103, 104, 105}
			if tt.plain > 0 {
				w.teach(ids[""], tt.plain, 3, hosts...)
			}
			if tt.class > 0 {
				w.teach(ids["x"], tt.class, 3, hosts...)
			}
			w.now = w.now.Add(time.Minute)
			got := w.as(host, tt.seqno, "01-first-contact-with-work")
			if len(got.AppVersions) != 1 || got.AppVersions[0].PlanClass != tt.want {
				t.Errorf("host %d got %+v, want class %q", host, got.AppVersions, tt.want)
			}
		})
	}
}

// A version that only fails on a host is not tried there again and again.
func TestAVersionThatFailsIsNotTried(t *testing.T) {
	w := newWorld(t)
	w.s.Config.DailyResultQuota = 8
	w.withClass("x", match.PlanClass{ProjectedFlopsScale: 0.5})
	w.addWork("a", 1)
	host := w.send(capture(t, "01-first-contact-with-work", ">86400<", ">0<")).HostID
	id := w.versions()["x"]
	w.update(func(tx *store.Tx) error {
		return tx.SaveHostAppVersion(store.HostAppVersion{HostID: host, AppVersionID: id, MaxJobsPerDay: 7})
	})
	if got := w.as(host, 7, "01-first-contact-with-work"); len(got.AppVersions) != 1 || got.AppVersions[0].PlanClass != "" {
		t.Errorf("got %+v", got.AppVersions)
	}
}

// Learned run times make time limits longer, never shorter.
func TestTimeLimitsAreKept(t *testing.T) {
	for _, tt := range []struct {
		name    string
		stretch float64
		want    float64 // of the limit, over that by the benchmark
	}{
		{"nothing known", 0, 1}, {"results that take longer", 20, 20}, {"results that mostly end early", 0.001, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.addWork("a", 1)
			if tt.stretch > 0 {
				w.teach(w.versions()[""], tt.stretch, 1, 101, 102, 103, 104, 105)
			}
			got := w.send(capture(t, "01-first-contact-with-work"))
			if len(got.Workunits) != 1 {
				t.Fatalf("no work: %s", texts(got))
			}
			var benchmark float64
			id := w.versions()[""]
			w.update(func(tx *store.Tx) error {
				h, err := tx.HostAppVersion(got.HostID, id)
				benchmark = h.BenchmarkFlops
				return err
			})
			limit := got.Workunits[0].RscFpopsBound / got.AppVersions[0].Flops
			if want := tt.want * 1e12 / benchmark; math.Abs(limit/want-1) > 0.06 {
				t.Errorf("limit %v s, want %v s", limit, want)
			}
		})
	}
}
