package hostversion_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/store"
)

func TestQuota(t *testing.T) {
	const quota = 8
	h := store.HostAppVersion{}
	step := func(name string, after store.HostAppVersion, most, consecutive int) {
		t.Helper()
		if got := hostversion.Quota(after, quota); got != most || after.ConsecutiveValid != consecutive {
			t.Errorf("%s: quota %d, %d in a row; want %d, %d", name, got, after.ConsecutiveValid, most, consecutive)
		}
		h = after
	}
	step("a failure before anything was sent", hostversion.Failed(h, quota), 8, 0)
	step("sent", hostversion.Sent(h, quota), 8, 0)
	if h.NJobsToday != 1 {
		t.Errorf("%d sent today", h.NJobsToday)
	}
	step("valid", hostversion.Valid(h, true), 9, 1)
	step("valid alone", hostversion.Valid(h, false), 10, 1)
	step("succeeded", hostversion.Succeeded(h, quota), 10, 1)
	step("invalid", hostversion.Invalid(h, quota), 9, 0)
	step("invalid", hostversion.Invalid(h, quota), 8, 0)
	step("invalid at the quota", hostversion.Invalid(h, quota), 8, 0)
	step("valid", hostversion.Valid(h, true), 9, 1)
	step("sent", hostversion.Sent(h, quota), 9, 1)
	step("valid", hostversion.Valid(h, true), 10, 2)
	for want := 7; want >= 1; want-- {
		step("failed", hostversion.Failed(h, quota), want, 0)
	}
	step("failed at the least", hostversion.Failed(h, quota), 1, 0)
	step("succeeded", hostversion.Succeeded(h, quota), 2, 0)
	step("valid", hostversion.Valid(h, true), 3, 1)
	step("succeeded", hostversion.Succeeded(h, quota), 6, 1)
	step("succeeded", hostversion.Succeeded(h, quota), 8, 1)
	if got := hostversion.Quota(hostversion.Failed(h, 5), 5); got != 4 {
		t.Errorf("a failure after the project lowered it: %d", got)
	}
}

func TestTrust(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	share := func(consecutive int) float64 {
		n := 0
		for range 10_000 {
			if hostversion.Trusted(store.HostAppVersion{ConsecutiveValid: consecutive}, rng) {
				n++
			}
		}
		return float64(n) / 10_000
	}
	for consecutive, want := range map[int]float64{0: 0, 9: 0, 10: 0.9, 100: 0.99} {
		if got := share(consecutive); math.Abs(got-want) > 0.01 {
			t.Errorf("%d in a row: trusted in %v of the cases, want %v", consecutive, got, want)
		}
	}
}
