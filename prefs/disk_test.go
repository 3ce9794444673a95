package prefs_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/prefs"
)

func TestDiskShares(t *testing.T) {
	for _, c := range []struct {
		name     string
		allowed  int64
		projects []prefs.DiskUser
		want     []int64
	}{
		{"nobody", 100, nil, []int64{}},
		{"one has it all", 1000, []prefs.DiskUser{{Share: 100, Used: 10}}, []int64{1000}},
		{"by resource share", 1200, []prefs.DiskUser{{Share: 100}, {Share: 100}}, []int64{600, 600}},
		{"a backup project gets some", 1200, []prefs.DiskUser{{Share: 100}, {Share: 0}}, []int64{1100, 100}},
		{"only backup projects", 1200, []prefs.DiskUser{{}, {}}, []int64{600, 600}},
		{"what one leaves is another's", 1200, []prefs.DiskUser{{Share: 100, Used: 200}, {Share: 100, Used: 900}}, []int64{600, 1000}},
		{"both want more", 1200, []prefs.DiskUser{{Share: 100, Used: 700}, {Share: 100, Used: 900}}, []int64{600, 600}},
		{"nothing is allowed", 0, []prefs.DiskUser{{Share: 100, Used: 7}, {Share: 100}}, []int64{0, 0}},
	} {
		if got := prefs.DiskShares(c.allowed, c.projects); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// Projects that take no more than a quota keep their space. If all others took their shares, no
// more space than allowed would be used.
func TestDiskSharesKeepWithinWhatIsAllowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		allowed := rapid.Int64Range(0, 1e12).Draw(t, "allowed")
		projects := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) prefs.DiskUser {
			return prefs.DiskUser{Share: float64(rapid.IntRange(0, 1000).Draw(t, "share")), Used: rapid.Int64Range(0, 2e12).Draw(t, "used")}
		}), 1, 10).Draw(t, "projects")
		var sum int64
		for i, share := range prefs.DiskShares(allowed, projects) {
			if share < 0 {
				t.Fatalf("project %d may take %d", i, share)
			}
			sum += min(share, projects[i].Used)
		}
		if sum > allowed+int64(len(projects)) {
			t.Fatalf("%d of %d", sum, allowed)
		}
	})
}
