package prefs_test

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/prefs"
)

// TestTheDiskBoundIsTheOneThatBinds: with the preference that is named set aside, more disk
// is allowed.
func TestTheDiskBoundIsTheOneThatBinds(t *testing.T) {
	const total, free, used = 100 << 30, 10 << 30, 2 << 30
	for _, tt := range []struct {
		gb, pct, min float64
		key, text    string
	}{
		{1, 90, 1, "disk_max_used_gb", "disk_max_used_gb = 1"},
		{0, 1.5, 1, "disk_max_used_pct", "disk_max_used_pct = 1.5, of 100 GB"},
		{50, 90, 11, "disk_min_free_gb", "disk_min_free_gb = 11, with 10 GB free"},
	} {
		p := prefs.Default()
		p.DiskMaxUsedGB, p.DiskMaxUsedPct, p.DiskMinFreeGB = tt.gb, tt.pct, tt.min
		b := p.DiskBound(total, free, used)
		if b.Key != tt.key || b.Text.String() != tt.text || !strings.Contains(b.Cure.String(), tt.key) {
			t.Errorf("got %+v, want %s: %s", b, tt.key, tt.text)
		}
		before := p.Disk(total, free, used)
		switch b.Key {
		case "disk_max_used_gb":
			p.DiskMaxUsedGB = 0
		case "disk_max_used_pct":
			p.DiskMaxUsedPct = 100
		default:
			p.DiskMinFreeGB = 0
		}
		if after := p.Disk(total, free, used); after <= before {
			t.Errorf("without %s: %d bytes, with it %d", b.Key, after, before)
		}
	}
}

func TestTheMemoryBound(t *testing.T) {
	p := prefs.Default()
	p.RAMMaxUsedBusyPct, p.RAMMaxUsedIdlePct = 25, 0
	if b := p.MemoryBound(8<<30, true); b.Text.String() != "ram_max_used_busy_pct = 25 while the computer is in use, of 8 GB" || b.Cure.String() != "Set ram_max_used_busy_pct higher." {
		t.Errorf("in use: %+v", b)
	}
	if b := p.MostMemory(8 << 30); b.Key != "ram_max_used_idle_pct" || b.Cure.Is() {
		t.Errorf("at most: %+v", b)
	}
}
