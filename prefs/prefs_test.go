package prefs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/prefs"
)

func TestParse(t *testing.T) {
	p, err := prefs.Parse("prefs.toml", []byte("max_ncpus_pct = 50\nwork_buf_min_days = 0.5\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.CPUs(8); got != 4 {
		t.Errorf("of 8 CPUs %d are used, want 4", got)
	}
	if got := p.CPUs(1); got != 1 {
		t.Errorf("of 1 CPU %d are used, want 1", got)
	}
	if p.LowWater() != 12*time.Hour || p.HighWater() != 24*time.Hour {
		t.Errorf("marks are %v and %v", p.LowWater(), p.HighWater())
	}
}

func TestEveryFaultIsTold(t *testing.T) {
	_, err := prefs.Parse("prefs.toml", []byte("max_ncpu_pct = 50\nwork_buf_min_days = -1\ndisk_interval = \"x\"\n"))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"prefs.toml:1: max_ncpu_pct: unknown key, did you mean max_ncpus_pct?",
		`prefs.toml:3: disk_interval: "x" is not a number`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want %q in it", err, want)
		}
	}
	if _, err = prefs.Parse("prefs.toml", []byte("work_buf_min_days = -1\nmax_ncpus_pct = nan")); err == nil ||
		!strings.Contains(err.Error(), "prefs.toml:1: work_buf_min_days: -1 is not within 0 and 10") ||
		!strings.Contains(err.Error(), "prefs.toml:2: max_ncpus_pct: NaN is not within") {
		t.Errorf("got %v", err)
	}
}
