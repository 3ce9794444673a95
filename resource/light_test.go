package resource_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/resource"
)

// A day of an application: at each minute it has used so much of a CPU.
func TestWhatNeedsLittleCPUTime(t *testing.T) {
	for _, c := range []struct {
		name   string
		minute func(m int) float64
		want   bool // belied after some time
		later  bool // and in the end
	}{
		{"a sensor is read", func(int) float64 { return 0.02 }, false, false},
		{"it is busy for the first two minutes", func(m int) float64 { return step(m < 2) }, false, false},
		{"it is busy for a minute of each ten", func(m int) float64 { return step(m%10 == 0) }, false, false},
		{"it computes all the time", func(int) float64 { return 1 }, true, true},
		{"it computes on all CPUs", func(int) float64 { return 16 }, true, true},
		{"it computes for three minutes of each six", func(m int) float64 { return step(m%6 < 3) }, true, true},
		{"it computed for an hour", func(m int) float64 { return step(m < 60) }, true, false},
	} {
		var l resource.Light
		ever := false
		for m := range 24 * 60 {
			l = l.Ran(time.Minute, time.Duration(c.minute(m)*float64(time.Minute)))
			ever = ever || l.Overused
		}
		if ever != c.want || l.Overused != c.later {
			t.Errorf("%s: believed %t, in the end %t (%v CPUs)", c.name, !ever, !l.Overused, l.CPUs)
		}
	}
}

func step(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

// However a project's tasks distribute their use over time, they cannot use more than a quarter of
// a CPU for long without being detected. Tasks that used less all the time are never accused.
func TestLightTasksAreJudgedByWhatTheyUse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l resource.Light
		var ran, free time.Duration // free: CPU time used while the claim was accepted
		steady := true
		for range rapid.IntRange(1, 300).Draw(t, "intervals") {
			dt := time.Duration(rapid.Int64Range(0, int64(5*time.Minute)).Draw(t, "ran"))
			used := time.Duration(rapid.Float64Range(0, 4).Draw(t, "cpus") * float64(dt))
			before := l
			l = l.Ran(dt, used)
			ran += dt
			steady = steady && used <= dt/4
			if !before.Overused && !l.Overused {
				free += used
			}
			if math.IsNaN(l.CPUs) || l.CPUs < 0 || l.CPUs > 4.0001 {
				t.Fatalf("average %v", l.CPUs)
			}
		}
		if steady && l.Overused {
			t.Fatalf("found out at %v CPUs, though it never used more than a quarter", l.CPUs)
		}
		// A quarter of the time, and what half-lives of it may hide.
		if most := ran/4 + 5*time.Minute; free > most {
			t.Fatalf("in %v it used %v while it was believed, want %v at most", ran, free, most)
		}
	})
}

// CPU use counts the same whether it is added at once or in several parts.
func TestLightTasksAreSeenAsOftenAsOneLikes(t *testing.T) {
	whole := resource.Light{}.Ran(8*time.Minute, 4*time.Minute)
	var parts resource.Light
	for range 480 {
		parts = parts.Ran(time.Second, time.Second/2)
	}
	var late resource.Light // the CPU time is added a moment later than the time
	for range 480 {
		late = late.Ran(time.Second, 0).Ran(0, time.Second/2)
	}
	for _, got := range []resource.Light{parts, late} {
		if math.Abs(got.CPUs-whole.CPUs) > 0.001 {
			t.Errorf("got %v, want %v", got.CPUs, whole.CPUs)
		}
	}
}
