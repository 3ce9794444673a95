package workfetch_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/workfetch"
)

// A project that had no work for want of disk or memory is a matter of a preference, which
// is named with its value.
func TestTooLittleDiskOrMemoryNamesThePreference(t *testing.T) {
	disk := prefs.Bound{Key: "disk_max_used_gb", Text: "disk_max_used_gb = 2", Cure: "Set disk_max_used_gb higher."}
	memory := prefs.Bound{Key: "ram_max_used_idle_pct", Text: "ram_max_used_idle_pct = 50", Cure: "Set ram_max_used_idle_pct higher."}
	const (
		forDisk   = "Set disk_max_used_gb higher. Now: disk_max_used_gb = 2."
		forMemory = "Set ram_max_used_idle_pct higher. Now: ram_max_used_idle_pct = 50."
	)
	for said, want := range map[string]string{
		"Tasks need more disk space than this computer allows (app: needs 10 GB, allowed 2 GB)":                     forDisk,
		"Tasks need more memory than this computer allows (app: needs 10 GB, allowed 2 GB)":                         forMemory,
		"App needs 953.67MB more disk space.  You currently have 0.00 MB available and it needs 953.67 MB.":         forDisk,
		"App needs 1907.35 MB RAM but only 953.67 MB is available for use.":                                         forMemory,
		"App needs 9 MB RAM but only 1 MB is available for use.; App needs 9MB more disk space.  You have nothing.": forDisk + " " + forMemory,
		"Project has no tasks available": "",
	} {
		s := snapshot(nil, known(func(p *workfetch.Project) {
			p.Backoff, p.BackoffWhy = now.Add(time.Hour), "The last request brought no work ("+said+")"
		}))
		s.Disk, s.Memory = disk, memory
		if r := workfetch.Choose(s)[0]; r.Code != workfetch.NoWorkBackoff || r.Cure != want {
			t.Errorf("%s: got %+v, want %q", said, r, want)
		}
		if s.Disk.Cure, s.Memory.Cure = "", ""; workfetch.Choose(s)[0].Cure != "" {
			t.Errorf("%s: a cure that does not help", said)
		}
	}
}
