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
		{Share: 100, Counts: true, Used: 3600},
		{Share: 300, Counts: true},
	}, time.Hour, 1)
	if !near(got[0], -2700) || !near(got[1], 2700) {
		t.Errorf("got %v, want -2700 and 2700", got)
	}
}

func TestAnIntervalAsleepCountsForNobody(t *testing.T) {
	for _, interval := range []time.Duration{-time.Hour, 0, 48 * time.Hour} {
		got := debt.Settle([]debt.Project{
			{Share: 1, Counts: true, Debt: 5, Used: 1e6},
			{Share: 1, Counts: true, Debt: -5},
		}, interval, 1)
		if !near(got[0], 5) || !near(got[1], -5) {
			t.Errorf("interval %v: got %v, want 5 and -5", interval, got)
		}
	}
}

func TestANewProjectStartsOnAParAndADetachedOneLeavesNoTrace(t *testing.T) {
	ps := []debt.Project{{Share: 1, Counts: true, Debt: 1000}, {Share: 1, Counts: true, Debt: -1000}}
	got := debt.Settle(append(ps, debt.Project{Share: 1, Counts: true}), time.Minute, 1)
	if !near(got[2], 0) {
		t.Errorf("a new project has debt %v", got[2])
	}
	got = debt.Settle(ps[:1], time.Minute, 1)
	if !near(got[0], 0) {
		t.Errorf("the only project left has debt %v", got[0])
	}
}

func TestAProjectTheVolunteerStoppedHasNoClaim(t *testing.T) {
	ps := []debt.Project{
		{Share: 1, Counts: false, Debt: 9e5},
		{Share: 1, Counts: true, Used: 60},
		{Share: 1, Counts: true},
	}
	got := debt.Settle(ps, time.Minute, 1)
	if got[0] != 0 || !near(got[1], -30) || !near(got[2], 30) {
		t.Errorf("got %v", got)
	}
}

func TestClaimsAreBounded(t *testing.T) {
	ps := []debt.Project{{Share: 1, Counts: true}, {Share: 1, Counts: true}, {Share: 2, Counts: true}}
	for range 365 * 24 { // a year in which the first has no work at all
		ps[1].Used, ps[2].Used = 1200, 2400
		for i, d := range debt.Settle(ps, time.Hour, 1) {
			ps[i].Debt = d
		}
	}
	if bound := debt.Horizon.Seconds(); !near(ps[0].Debt, bound) {
		t.Errorf("owed %v after a year, want the bound %v", ps[0].Debt, bound)
	}
	// The others, who got everything in the ratio of their shares, are even.
	if r := ps[2].Debt / ps[1].Debt; math.Abs(r-2) > 0.01 {
		t.Errorf("the others owe %v and %v", ps[1].Debt, ps[2].Debt)
	}
}

func TestDebtsSumToZeroWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "projects")
		cpus := rapid.IntRange(1, 64).Draw(t, "cpus")
		ps := make([]debt.Project, n)
		for i := range ps {
			ps[i] = debt.Project{
				Debt:   rapid.Float64Range(-1e9, 1e9).Draw(t, "debt"),
				Share:  rapid.Float64Range(0, 1e4).Draw(t, "share"),
				Counts: rapid.Bool().Draw(t, "counts"),
				Used:   rapid.Float64Range(0, 1e6).Draw(t, "used"),
			}
		}
		got := debt.Settle(ps, time.Duration(rapid.Int64().Draw(t, "interval")), cpus)
		sum, bound := 0.0, debt.Horizon.Seconds()*float64(cpus)
		for i, d := range got {
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
