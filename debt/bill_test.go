package debt_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/debt"
)

func TestATaskPaysForWhatItUses(t *testing.T) {
	const minute = time.Minute
	type look struct {
		ran, used time.Duration // since the last look, and in all
	}
	for _, c := range []struct {
		name   string
		claim  float64
		looks  []look
		beyond float64
	}{
		{"as it claims", 1, []look{{minute, minute}, {minute, 2 * minute}}, 0},
		{"less than it claims", 4, []look{{minute, minute}, {minute, 2 * minute}}, 0},
		{"nothing is measured", 1, []look{{minute, 0}, {minute, 0}}, 0},
		{"on four CPUs instead of one", 1, []look{{minute, 4 * minute}, {minute, 8 * minute}}, 360},
		{"beside a device, whose driver keeps a CPU busy", 0.1, []look{{minute, minute}, {minute, 2 * minute}}, 108},
		{"though it needs little", 0, []look{{minute, minute}, {minute, 2 * minute}}, 120},
		{"it is told a moment late", 0.5, []look{{minute, 0}, {0, minute}, {minute, minute}, {0, 2 * minute}}, 60},
		{"more than the computer has", 1, []look{{minute, 1000 * time.Hour}}, 420},
		{"a clock that was set back", 1, []look{{-minute, 0}, {minute, minute}}, 0},
	} {
		var b debt.Bill
		sum := 0.0
		for _, l := range c.looks {
			got := b.Add(c.claim, l.ran, l.used, 8)
			if want := c.claim * max(0, l.ran.Seconds()); !near(got.Claimed, want) {
				t.Errorf("%s: claimed %v, want %v", c.name, got.Claimed, want)
			}
			sum += got.Beyond
		}
		if !near(sum, c.beyond) {
			t.Errorf("%s: %v beyond, want %v", c.name, sum, c.beyond)
		}
	}
}

// Whatever its claim, a task pays for its use, and never for more than that and its claim.
func TestNoClaimSavesAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const cpus = 8
		var b debt.Bill
		var used, seen time.Duration
		var paid, claimed float64
		for range rapid.IntRange(1, 50).Draw(t, "looks") {
			ran := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "ran"))
			used += time.Duration(rapid.Float64Range(0, cpus).Draw(t, "cpus") * float64(ran))
			c := b.Add(rapid.SampledFrom([]float64{0, 1e-6, 1, 3, 100}).Draw(t, "claim"), ran, used, cpus)
			if c.Beyond < 0 || c.Used < 0 {
				t.Fatalf("%+v is given back", c)
			}
			paid, claimed, seen = paid+c.Claimed+c.Beyond, claimed+c.Claimed, seen+c.Used
		}
		if seen != used {
			t.Fatalf("%v of %v was seen", seen, used)
		}
		if most := claimed + used.Seconds(); paid < used.Seconds()-1e-3 || paid > most+1e-3 {
			t.Fatalf("paid %v for %v, with a claim of %v", paid, used.Seconds(), claimed)
		}
	})
}
