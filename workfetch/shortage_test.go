package workfetch_test

import (
	"strings"
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
		other     = "To keep the computer busy, attach to another project: starling attach"
		askNow    = ". To ask this one now: starling update http://p.example/"
		forMemory = "Set ram_max_used_idle_pct higher. Now: ram_max_used_idle_pct = 50."
	)
	for said, want := range map[string]string{
		"Tasks need more disk space than this computer allows (app: needs 10 GB, allowed 2 GB)":                     forDisk,
		"Tasks need more memory than this computer allows (app: needs 10 GB, allowed 2 GB)":                         forMemory,
		"App needs 953.67MB more disk space.  You currently have 0.00 MB available and it needs 953.67 MB.":         forDisk,
		"App needs 1907.35 MB RAM but only 953.67 MB is available for use.":                                         forMemory,
		"App needs 9 MB RAM but only 1 MB is available for use.; App needs 9MB more disk space.  You have nothing.": forDisk + " " + forMemory,
		"Project has no tasks available": other + askNow,
	} {
		s := snapshot(nil, known(func(p *workfetch.Project) {
			p.Backoff, p.BackoffWhy = now.Add(time.Hour), "The last request brought no work ("+said+")"
		}))
		s.Disk, s.Memory = disk, memory
		if r := workfetch.Choose(s)[0]; r.Code != workfetch.NoWorkBackoff || r.Cure != want {
			t.Errorf("%s: got %+v, want %q", said, r, want)
		}
		s.Disk.Cure, s.Memory.Cure = "", ""
		if r := workfetch.Choose(s)[0]; strings.Contains(r.Cure, "Now:") || !strings.HasPrefix(r.Cure, other) {
			t.Errorf("%s: a cure that does not help: %q", said, r.Cure)
		}
		s.Disk, s.Memory, s.AllDisk, s.AllMemory = disk, memory, 500e9, 25e9
		s.Projects[0].NeedsDisk, s.Projects[0].NeedsMemory = 465661e9, 838e9
		if r := workfetch.Choose(s)[0]; want != other+askNow && (strings.Contains(r.Cure, "Now:") || !strings.HasPrefix(r.Cure, "This computer can never run these tasks: they need ")) {
			t.Errorf("%s: a cure that is impossible: %q", said, r.Cure)
		}
	}
}
