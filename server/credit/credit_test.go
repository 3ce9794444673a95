package credit_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/speed"
)

// Steady work at a constant rate brings the average to that rate.
func TestAverageSettles(t *testing.T) {
	avg, last := 0.0, time.Time{}
	now := time.Unix(1_800_000_000, 0)
	for range 1000 {
		avg = credit.Average(avg, last, now, 10)
		last, now = now, now.Add(6*time.Hour)
	}
	if math.Abs(avg-40) > 0.5 {
		t.Errorf("got %v a day, want 40", avg)
	}
	if half := credit.Average(avg, last, last.Add(7*24*time.Hour), 0); math.Abs(half-avg/2) > 1e-9 {
		t.Errorf("after a half-life without work: got %v, want %v", half, avg/2)
	}
	if got := fmt.Sprintf("%.6f", credit.Average(1, now, now, 1)); got != fmt.Sprintf("%.6f", 1+math.Ln2/7) {
		t.Errorf("two at once: got %s", got)
	}
}

func TestAnAverageDecaysWhenItIsRead(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, tt := range []struct {
		name string
		last time.Time
		want float64
	}{
		{"just granted", now, 40},
		{"a week ago", now.Add(-7 * 24 * time.Hour), 20},
		{"four weeks ago", now.Add(-28 * 24 * time.Hour), 2.5},
		{"a clock that was set back", now.Add(time.Hour), 40},
		{"never", time.Time{}, 40},
	} {
		if got := credit.Decayed(40, tt.last, now); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	// The value that is read is the one from which the next grant would start.
	last := now.Add(-3 * 24 * time.Hour)
	if a, b := credit.Decayed(40, last, now), credit.Average(40, last, now, 0); math.Abs(a-b) > 1e-9 {
		t.Errorf("read %v, granted %v", a, b)
	}
}

func policy(t *testing.T, s string) credit.Policy {
	t.Helper()
	p, err := credit.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPolicies(t *testing.T) {
	for s, want := range map[string]string{
		"flop": "want flops, fixed:N or runtime", "fixed": "want flops", "fixed:": "and a number", "fixed:0": "above 0",
		"fixed:-1": "above 0", "fixed:NaN": "above 0", "fixed:1e9": "up to 73000000", "runtime:2": "want flops",
	} {
		if _, err := credit.Parse(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", s, err, want)
		}
	}
	half := credit.Facts{FpopsEst: 4.32e13, FpopsBound: 4.32e14} // half a day of 1 GFLOPS
	with := func(change func(f *credit.Facts)) credit.Facts {
		f := half
		change(&f)
		return f
	}
	took := func(days, benchmark float64, hosts int, stretch float64) credit.Facts {
		return with(func(f *credit.Facts) {
			f.Seconds, f.Benchmark = days*86400, benchmark
			f.Version = speed.Version{Hosts: hosts, Stretch: stretch}
		})
	}
	own := func(f credit.Facts) credit.Facts {
		f.Anonymous = true
		return f
	}
	for _, tt := range []struct {
		name   string
		policy string
		facts  credit.Facts
		want   float64
	}{
		{"nothing said", "", half, 100},
		{"by flops", "flops", took(9, 1e12, 9, 50), 100},
		{"by flops, the most there is", "flops", with(func(f *credit.Facts) { f.FpopsEst = 1e25 }), credit.Max},
		{"fixed", "fixed:2.5", half, 2.5},
		{"the workunit says more", "fixed:2.5", with(func(f *credit.Facts) { f.Fixed = 7 }), 7},
		{"the workunit says, by flops", "flops", with(func(f *credit.Facts) { f.Fixed = 7 }), 7},
		{"the workunit says, by run time", "runtime", with(func(f *credit.Facts) { f.Fixed = 7 }), 7},
		{"by run time", "runtime", took(1, 2e9, 0, 0), 400},
		{"by run time, beyond the bound", "runtime", took(30, 2e9, 0, 0), 1000},
		{"by run time, beyond the bound, but all need that much", "runtime", took(10, 2e9, 9, 20), 4000},
		{"by run time, ten times what others need", "runtime", took(30, 2e9, 5, 0.5), 500},
		{"by run time, of a host without a benchmark", "runtime", took(1, 0, 0, 0), 0},
		{"with a program of the volunteer's own", "flops", with(func(f *credit.Facts) { f.Anonymous = true }), 100},
		{"by run time, with a program of the volunteer's own", "runtime", own(took(30, 1e15, 4, 2)), 100},
		{"the same, and it is known what others need", "runtime", own(took(0, 0, 5, 2)), 200},
		{"by run time that is not known", "runtime", took(0, 1e9, 0, 0), 0},
	} {
		if got := policy(t, tt.policy).Claim(tt.facts); math.Abs(got-tt.want) > 1e-6*tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestAGrantIsTheLowerMedian(t *testing.T) {
	for _, tt := range []struct {
		claims []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{900, 3}, 3}, {[]float64{1, 900, 3}, 3}, {[]float64{900, 1, 3, 800}, 3}} {
		if got := credit.Grant(tt.claims); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.claims, got, tt.want)
		}
	}
}

// With as many honest claims as false ones, no result gets more credit than an honest claim.
func TestLiesBringNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		claim := rapid.Float64Range(0, credit.Max)
		honest := rapid.SliceOfN(claim, 1, 9).Draw(t, "honest")
		lies := rapid.SliceOfN(claim, 0, len(honest)).Draw(t, "lies")
		most := 0.0
		for _, c := range honest {
			most = max(most, c)
		}
		if got := credit.Grant(append(append([]float64{}, honest...), lies...)); got > most {
			t.Fatalf("granted %v, the highest honest claim is %v", got, most)
		}
	})
}
