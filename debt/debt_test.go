package debt_test

import (
	"math"
	"testing"
	"time"

	"github.com/starling-grid/starling/debt"
	"pgregory.net/rapid"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-3 }

func TestWhatOneGetsIsTakenOff(t *testing.T) {
	got := debt.Settle([]debt.Project{
		{Share: 100, Counts: true, Used: debt.PerKind{3600}},
		{Share: 300, Counts: true},
	}, time.Hour, debt.PerKind{1})
	if !near(got[0], -2700) || !near(got[1], 2700) {
		t.Errorf("got %v, want -2700 and 2700", got)
	}
}

func TestAnIntervalAsleepCountsForNobody(t *testing.T) {
	for _, interval := range []time.Duration{-time.Hour, 0, 48 * time.Hour} {
		got := debt.Settle([]debt.Project{
			{Share: 1, Counts: true, Debt: 5, Used: debt.PerKind{1e6}},
			{Share: 1, Counts: true, Debt: -5},
		}, interval, debt.PerKind{1})
		if !near(got[0], 5) || !near(got[1], -5) {
			t.Errorf("interval %v: got %v, want 5 and -5", interval, got)
		}
	}
}

func TestANewProjectStartsOnAParAndADetachedOneLeavesNoTrace(t *testing.T) {
	ps := []debt.Project{{Share: 1, Counts: true, Debt: 1000}, {Share: 1, Counts: true, Debt: -1000}}
	got := debt.Settle(append(ps, debt.Project{Share: 1, Counts: true}), time.Minute, debt.PerKind{1})
	if !near(got[2], 0) {
		t.Errorf("a new project has debt %v", got[2])
	}
	got = debt.Settle(ps[:1], time.Minute, debt.PerKind{1})
	if !near(got[0], 0) {
		t.Errorf("the only project left has debt %v", got[0])
	}
}

func TestAProjectTheVolunteerStoppedHasNoClaim(t *testing.T) {
	ps := []debt.Project{
		{Share: 1, Counts: false, Debt: 9e5},
		{Share: 1, Counts: true, Used: debt.PerKind{60}},
		{Share: 1, Counts: true},
	}
	got := debt.Settle(ps, time.Minute, debt.PerKind{1})
	if got[0] != 0 || !near(got[1], -30) || !near(got[2], 30) {
		t.Errorf("got %v", got)
	}
}

func TestClaimsAreBounded(t *testing.T) {
	ps := []debt.Project{{Share: 1, Counts: true}, {Share: 1, Counts: true}, {Share: 2, Counts: true}}
	for range 365 * 24 { // a year in which the first never has work
		ps[1].Used[0], ps[2].Used[0] = 1200, 2400
		for i, d := range debt.Settle(ps, time.Hour, debt.PerKind{1}) {
			ps[i].Debt = d
		}
	}
	if bound := debt.Horizon.Seconds(); !near(ps[0].Debt, bound) {
		t.Errorf("owed %v after a year, want the bound %v", ps[0].Debt, bound)
	}
	// The others got everything in the ratio of their shares, so their debts are even.
	if r := ps[2].Debt / ps[1].Debt; math.Abs(r-2) > 0.01 {
		t.Errorf("the others owe %v and %v", ps[1].Debt, ps[2].Debt)
	}
}

func TestDebtsSumToZeroWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "projects")
		var sizes debt.PerKind
		kinds := rapid.IntRange(1, 3).Draw(t, "kinds")
		for k := range kinds {
			sizes[k] = float64(rapid.IntRange(1, 64).Draw(t, "size"))
		}
		ps := make([]debt.Project, n)
		for i := range ps {
			ps[i] = debt.Project{
				Debt:   rapid.Float64Range(-1e9, 1e9).Draw(t, "debt"),
				Share:  rapid.Float64Range(0, 1e4).Draw(t, "share"),
				Counts: rapid.Bool().Draw(t, "counts"),
			}
			for k := range kinds {
				ps[i].Used[k] = rapid.Float64Range(0, 1e6).Draw(t, "used")
				ps[i].Without[k] = rapid.Bool().Draw(t, "without")
			}
		}
		got := debt.Settle(ps, time.Duration(rapid.Int64().Draw(t, "interval")), sizes)
		sum := 0.0
		for i, d := range got {
			bound := ps[i].Bound(sizes)
			if math.Abs(d) > bound+1 || math.IsNaN(d) {
				t.Fatalf("debt %v beyond %v", d, bound)
			}
			if !ps[i].Counts && d != 0 {
				t.Fatalf("a project that does not count has debt %v", d)
			}
			sum += d
		}
		if math.Abs(sum) > float64(n) {
			t.Fatalf("debts sum to %v", sum)
		}
	})
}

// Shares apply to the whole computer if possible. Otherwise the projects with work for the same
// processors still divide these by their shares.
func TestKindsOfProcessors(t *testing.T) {
	const cpus, gpus = 0, 1
	only := func(k int, share float64) debt.Project {
		p := debt.Project{Share: share, Counts: true}
		for n := range p.Without {
			p.Without[n] = n != k
		}
		return p
	}
	both := func(share float64) debt.Project { return debt.Project{Share: share, Counts: true} }
	for _, tt := range []struct {
		name string
		ps   []debt.Project
		done debt.PerKind
		want []float64
	}{
		{"CPUs alone", []debt.Project{both(100), both(300)}, debt.PerKind{4}, []float64{1, 3}},
		{"one of each, and one with work for both", []debt.Project{only(gpus, 100), only(cpus, 100), both(200)}, debt.PerKind{2, 2}, []float64{1, 1, 2}},
		{"a GPU much faster than its project's share", []debt.Project{only(gpus, 100), only(cpus, 100), only(cpus, 300)}, debt.PerKind{4, 40}, []float64{40, 1, 3}},
		{"what one cannot have, those have who can", []debt.Project{only(gpus, 100), only(cpus, 100), both(200)}, debt.PerKind{2, 40}, []float64{40. / 3, 2, 80. / 3}},
		{"a GPU that was off", []debt.Project{only(gpus, 100), both(100)}, debt.PerKind{4, 0}, []float64{0, 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ps := append(tt.ps, debt.Project{Counts: true, Used: tt.done}) // without a share, it gets everything
			got := debt.Settle(ps, time.Minute, debt.PerKind{100, 100})
			for i, w := range tt.want {
				if !near(got[i], w) {
					t.Errorf("project %d: claims %v, want %v", i, got[i], w)
				}
			}
		})
	}
}
