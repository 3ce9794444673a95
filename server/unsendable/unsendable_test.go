package unsendable_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/unsendable"
)

const (
	gb    = 1 << 30
	linux = "x86_64-pc-linux-gnu"
)

// now is a Thursday.
var now = time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)

func host(platform string, memory, disk float64) unsendable.Host {
	return unsendable.Host{Platforms: []string{platform}, Memory: memory, Disk: disk, Bandwidth: math.Inf(1), Flops: 1e9}
}

func unsuited(h unsendable.Host, classes ...string) unsendable.Host {
	h.Unsuited = classes
	return h
}

func trusted(h unsendable.Host) unsendable.Host {
	h.Trusted = true
	return h
}

func classed(h unsendable.Host, fine, coarse int64) unsendable.Host {
	h.Fine, h.Coarse = fine, coarse
	return h
}

// need returns the needs of an application's results: 2 GB of memory, 1 GB of disk, an hour of the
// two that they may take.
func need(change func(*store.Need)) store.Need {
	n := store.Need{
		AppID: 1, Memory: 2 * gb, Disk: gb, FpopsEst: 3600e9, DelayBound: 2 * time.Hour, Results: 1, Oldest: now.Add(-48 * time.Hour),
	}
	change(&n)
	return n
}

func TestCauses(t *testing.T) {
	small, big := host(linux, 4*gb, 8*gb), host(linux, 16*gb, 2*gb)
	for _, c := range []struct {
		name  string
		hosts []unsendable.Host
		need  func(*store.Need)
		want  unsendable.Cause
		text  string
	}{
		{"somebody can", []unsendable.Host{small}, func(*store.Need) {}, "", ""},
		{
			"nobody is there", nil, func(*store.Need) {}, unsendable.NoHost,
			"1 result of upper has waited since 2026-03-03 12:00 UTC: no computer has contacted the project in the last 7 days.",
		},
		{
			"no version",
			[]unsendable.Host{small},
			func(n *store.Need) { n.AppID = 2 }, unsendable.NoVersion,
			"1 result of other has waited since 2026-03-03 12:00 UTC: there is no version of it that may be sent.",
		},
		{"a version that was withdrawn binds nobody", []unsendable.Host{small}, func(n *store.Need) { n.AppVersionID = 77 }, "", ""},
		{"committed to a version", []unsendable.Host{small}, func(n *store.Need) { n.AppVersionID = 7 }, "", ""},
		{
			"another platform",
			[]unsendable.Host{host("windows_x86_64", 4*gb, 8*gb)},
			func(*store.Need) {}, unsendable.Platform,
			"1 result of upper has waited since 2026-03-03 12:00 UTC: no computer active in the last 7 days is of a platform for which it has a version.",
		},
		{
			"an image only",
			[]unsendable.Host{small},
			func(n *store.Need) { n.AppID = 8 }, unsendable.Platform,
			"1 result of image has waited since 2026-03-03 12:00 UTC: no computer active in the last 7 days can run its container image, which needs Starling's agent on Linux.",
		},
		{"an image that some can run", []unsendable.Host{host("x86_64-linux-image", 4*gb, 8*gb)}, func(n *store.Need) { n.AppID = 8 }, "", ""},
		{"a platform that is not known", []unsendable.Host{{Memory: 4 * gb, Disk: 8 * gb, Flops: 1e9}}, func(*store.Need) {}, "", ""},
		{
			"another plan class",
			[]unsendable.Host{unsuited(small, "avx2", "mt"), unsuited(host("windows_x86_64", 4*gb, 8*gb), "avx2", "unknown")},
			func(n *store.Need) { n.AppID = 5 }, unsendable.PlanClass,
			"1 result of many has waited since 2026-03-03 12:00 UTC: no computer active in the last 7 days that has the right platform meets the requirements of a plan class (avx2, mt).",
		},
		{
			"the plan class of one of them",
			[]unsendable.Host{unsuited(small, "mt"), unsuited(small, "avx2")},
			func(n *store.Need) { n.AppID = 5 }, "", "",
		},
		{
			"committed to the version of the other plan class",
			[]unsendable.Host{unsuited(small, "mt"), unsuited(host("windows_x86_64", 4*gb, 8*gb), "mt")},
			func(n *store.Need) { n.AppID, n.AppVersionID = 5, 10 }, unsendable.PlanClass,
			"1 result of many has waited since 2026-03-03 12:00 UTC: no computer active in the last 7 days that has the right platform meets the requirements of a plan class (avx2, mt).",
		},
		{
			"another class",
			[]unsendable.Host{classed(small, 271, 257)},
			func(n *store.Need) { n.AppID, n.HRClass = 6, 298 }, unsendable.HRClass,
			"1 result of fine has waited since 2026-03-03 12:00 UTC: no computer active in the last 7 days that can run it is of the class that homogeneous redundancy requires.",
		},
		{"the class that it is committed to", []unsendable.Host{classed(small, 271, 257)}, func(n *store.Need) { n.AppID, n.HRClass = 6, 271 }, "", ""},
		{"the coarse class that it is committed to", []unsendable.Host{classed(small, 271, 257)}, func(n *store.Need) { n.AppID, n.HRClass = 7, 257 }, "", ""},
		{
			"suspicious, and nobody who can run it is trusted",
			[]unsendable.Host{small, trusted(host("windows_x86_64", 4*gb, 8*gb))},
			func(n *store.Need) { n.Suspicious = true }, unsendable.Trusted,
			"1 result of upper has waited since 2026-03-03 12:00 UTC: the validator found a result suspicious, and no computer active in the last 7 days that can run it is of a trusted account and has had no result of the same workunit.",
		},
		{"suspicious, and somebody is trusted", []unsendable.Host{small, trusted(big)}, func(n *store.Need) { n.Suspicious = true; n.Disk = gb }, "", ""},
		{
			"suspicious, and only computers of others have enough memory",
			[]unsendable.Host{big, trusted(small)},
			func(n *store.Need) { n.Suspicious, n.Memory = true, 5*gb }, unsendable.Memory,
			"1 result of upper has waited since 2026-03-03 12:00 UTC: no computer active in the last 7 days that can run it has enough memory (it needs 5 GB, the most is 4 GB).",
		},
		{"any class", []unsendable.Host{classed(small, 271, 257)}, func(n *store.Need) { n.AppID = 6 }, "", ""},
		{
			"no class",
			[]unsendable.Host{classed(small, 0, 257)},
			func(n *store.Need) { n.AppID = 6 }, unsendable.HRClass,
			"1 result of fine has waited since 2026-03-03 12:00 UTC: no computer active in the last 7 days that can run it is of the class that homogeneous redundancy requires.",
		},
		{"redundancy was switched off", []unsendable.Host{small}, func(n *store.Need) { n.HRClass = 271 }, "", ""},
		{
			"memory, of those of the class",
			[]unsendable.Host{classed(small, 271, 257), classed(big, 298, 257)},
			func(n *store.Need) { n.AppID, n.HRClass, n.Memory = 6, 271, 8*gb }, unsendable.Memory,
			"1 result of fine has waited since 2026-03-03 12:00 UTC: no computer active in the last 7 days that can run it has enough memory (it needs 8 GB, the most is 4 GB).",
		},
		{
			"memory",
			[]unsendable.Host{small, big},
			func(n *store.Need) { n.Memory, n.Results = 32*gb, 1240 }, unsendable.Memory,
			"1240 results of upper have waited since 2026-03-03 12:00 UTC: no computer active in the last 7 days that can run it has enough memory (they need at least 32 GB, the most is 16 GB).",
		},
		{
			"disk, of those with the memory",
			[]unsendable.Host{small, big},
			func(n *store.Need) { n.Memory, n.Disk, n.Oldest = 8*gb, 4*gb, now.Add(-time.Hour) }, unsendable.Disk,
			"1 result of upper has waited since 11:00 UTC: no computer active in the last 7 days that can run it and has the memory has enough disk space (it needs 4 GB, the most is 2 GB).",
		},
		{
			"bandwidth",
			[]unsendable.Host{{Platforms: []string{linux}, Memory: 4 * gb, Disk: 8 * gb, Bandwidth: 1 << 20, Flops: 1e9}},
			func(n *store.Need) { n.Bandwidth, n.Oldest = 2<<20, now.AddDate(0, -1, 0) },
			unsendable.Bandwidth,
			"1 result of upper has waited since 2026-02-05 12:00 UTC: no computer active in the last 7 days that can run it otherwise downloads fast enough (it needs 2 MB/s, the most is 1 MB/s).",
		},
		{
			"time",
			[]unsendable.Host{small},
			func(n *store.Need) { n.DelayBound = 30 * time.Minute }, unsendable.Deadline,
			"1 result of upper has waited since 2026-03-03 12:00 UTC: no computer active in the last 7 days that can run it otherwise is fast enough for the deadline (30 min, the fastest takes 1 h).",
		},
		{"time with a plan class is not known", []unsendable.Host{small}, func(n *store.Need) { n.AppID, n.DelayBound = 3, time.Minute }, "", ""},
		{"time by what was learnt", []unsendable.Host{small}, func(n *store.Need) { n.AppID, n.DelayBound = 4, 30*time.Minute }, "", ""},
		{
			"a difference that rounds away",
			[]unsendable.Host{small},
			func(n *store.Need) { n.Memory = 4*gb + 1 }, unsendable.Memory,
			"1 result of upper has waited since 2026-03-03 12:00 UTC: no computer active in the last 7 days that can run it has enough memory (it needs 4294967297 bytes, the most is 4294967296 bytes).",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := unsendable.NewJudge([]unsendable.Version{
				{ID: 7, AppID: 1, Platform: linux},
				{ID: 8, AppID: 3, Platform: linux, PlanClass: "mt"},
				{ID: 9, AppID: 4, Platform: linux, Stretch: 0.25},
				{ID: 10, AppID: 5, Platform: linux, PlanClass: "mt"},
				{ID: 11, AppID: 5, Platform: "windows_x86_64", PlanClass: "avx2"},
				{ID: 12, AppID: 6, Platform: linux},
				{ID: 13, AppID: 7, Platform: linux},
				{ID: 14, AppID: 8, Platform: "x86_64-linux-image"},
			}, map[int64]int{6: match.HRFine, 7: match.HRCoarse})
			for _, h := range c.hosts {
				if h.Bandwidth == 0 {
					h.Bandwidth = math.Inf(1)
				}
				j.Host(h)
			}
			j.Results(need(c.need))
			found := j.Findings(func(id int64) string {
				return []string{"", "upper", "other", "mt", "fast", "many", "fine", "coarse", "image"}[id]
			}, now)
			if c.want == "" {
				if len(found) != 0 {
					t.Errorf("got %+v, want nothing", found)
				}
				return
			}
			if len(found) != 1 || found[0].Cause != c.want || found[0].Text.String() != c.text || found[0].Cure == "" {
				t.Errorf("got %+v, want %s", found, c.text)
				return
			}
			for _, l := range words.Languages()[1:] {
				if got := found[0].Text.In(l); got == c.text {
					t.Errorf("in %s it is English: %s", l, got)
				}
			}
		})
	}
}

// Of the results that are out of reach for one cause, the closest one counts. The platforms listed
// are the ones that would help most.
func TestFindingsAreJoined(t *testing.T) {
	j := unsendable.NewJudge([]unsendable.Version{{ID: 7, AppID: 1, Platform: linux}}, nil)
	for _, p := range []string{"b", "a", linux, "b", "c", "d"} {
		j.Host(host(p, 4*gb, 8*gb))
	}
	for _, memory := range []float64{64 * gb, 8 * gb, 16 * gb} {
		j.Results(need(func(n *store.Need) { n.Memory, n.Results = memory, 10 }))
	}
	j.Results(need(func(n *store.Need) { n.AppID = 2 }))
	found := j.Findings(func(int64) string { return "x" }, now)
	if len(found) != 2 || found[0].Results != 30 || found[0].Need != 8*gb || found[0].Most != 4*gb {
		t.Fatalf("got %+v", found)
	}
	if p := found[1].Platforms; len(p) != 3 || p[0] != "b" || p[1] != "a" || p[2] != "c" {
		t.Errorf("got %v", p)
	}
}

// Leaving out hosts that others surpass changes no answer.
func TestOnlyTheBestHostsMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(1, 5).Draw(t, "amount")) })
		hosts := rapid.SliceOf(rapid.Custom(func(t *rapid.T) unsendable.Host {
			return unsendable.Host{
				Platforms: []string{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "platform")},
				Memory:    amount.Draw(t, "m"), Disk: amount.Draw(t, "d"), Bandwidth: amount.Draw(t, "b"), Flops: amount.Draw(t, "f"),
				Fine:     rapid.Int64Range(0, 2).Draw(t, "class"),
				Unsuited: rapid.SampledFrom([][]string{nil, {"x"}, {"y"}}).Draw(t, "plan classes"),
			}
		})).Draw(t, "hosts")
		n := store.Need{
			AppID: 1, Memory: amount.Draw(t, "m"), Disk: amount.Draw(t, "d"), Bandwidth: amount.Draw(t, "b"),
			FpopsEst: amount.Draw(t, "f"), DelayBound: time.Second, HRClass: rapid.Int64Range(0, 2).Draw(t, "class"), Results: 1, Oldest: now,
		}
		class := rapid.SampledFrom([]string{"", "x"}).Draw(t, "plan class") // with one the time is not known
		j := unsendable.NewJudge([]unsendable.Version{{ID: 1, AppID: 1, Platform: "a", PlanClass: class}}, map[int64]int{1: match.HRFine})
		want := false
		for _, h := range hosts {
			j.Host(h)
			want = want || h.Platforms[0] == "a" && h.Memory >= n.Memory && h.Disk >= n.Disk && h.Bandwidth >= n.Bandwidth &&
				(class == "" && h.Flops >= n.FpopsEst || class != "" && (len(h.Unsuited) == 0 || h.Unsuited[0] != class)) && h.Fine != 0 && (n.HRClass == 0 || n.HRClass == h.Fine)
		}
		if cause, _, _, ok := j.Lack(n); ok != want {
			t.Errorf("got %v (%s), want %v", ok, cause, want)
		}
	})
}

// Work for which all computers have their volunteers' own programs is not stuck.
func TestOwnProgramsCanHaveWork(t *testing.T) {
	const own = "anonymous:upper"
	j := unsendable.NewJudge([]unsendable.Version{{ID: 7, AppID: 1, Platform: linux}, {ID: 8, AppID: 2, Platform: linux}}, nil)
	h := host("anonymous", 4*gb, 8*gb)
	h.Platforms = append(h.Platforms, own)
	j.Own(1, own)
	j.Host(h)
	if cause, _, _, ok := j.Lack(need(func(*store.Need) {})); !ok {
		t.Errorf("the application it names: %s", cause)
	}
	if cause, _, _, ok := j.Lack(need(func(n *store.Need) { n.AppID = 2 })); ok || cause != unsendable.Platform {
		t.Errorf("another application: %s, %v", cause, ok)
	}
	if cause, _, _, ok := j.Lack(need(func(n *store.Need) { n.Memory = 9 * gb })); ok || cause != unsendable.Memory {
		t.Errorf("more memory than it has: %s, %v", cause, ok)
	}
}
