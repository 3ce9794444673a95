package workfetch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/workfetch"
)

// If a project had no work because of too little disk or memory, the cure names the preference,
// with its value.
func TestTooLittleDiskOrMemoryNamesThePreference(t *testing.T) {
	disk := prefs.Bound{Key: "disk_max_used_gb", Text: words.Plain("disk_max_used_gb = 2"), Cure: words.Plain("Set disk_max_used_gb higher.")}
	memory := prefs.Bound{Key: "ram_max_used_idle_pct", Text: words.Plain("ram_max_used_idle_pct = 50"), Cure: words.Plain("Set ram_max_used_idle_pct higher.")}
	const (
		forDisk   = "Set disk_max_used_gb higher. Now: disk_max_used_gb = 2."
		other     = "To keep the computer busy, attach to another project: starling attach"
		askNow    = ". To ask this one now: starling update http://p.example/"
		forMemory = "Set ram_max_used_idle_pct higher. Now: ram_max_used_idle_pct = 50."
	)
	for said, want := range map[string]string{
		"App needs 953.67MB more disk space.  You currently have 0.00 MB available and it needs 953.67 MB.":         forDisk,
		"App needs 1907.35 MB RAM but only 953.67 MB is available for use.":                                         forMemory,
		"App needs 9 MB RAM but only 1 MB is available for use.; App needs 9MB more disk space.  You have nothing.": forDisk + " " + forMemory,
		"Project has no tasks available": other + askNow,
	} {
		s := snapshot(nil, known(func(p *workfetch.Project) {
			p.Backoff, p.BackoffWhy = now.Add(time.Hour), "The last request brought no work ("+said+")"
		}))
		s.Disk, s.Memory = disk, memory
		if r := workfetch.Choose(s)[0]; r.Code != reason.NoWorkBackoff || r.Cure.String() != want {
			t.Errorf("%s: got %+v, want %q", said, r, want)
		}
		s.Disk.Cure, s.Memory.Cure = words.Plain(""), words.Plain("")
		if r := workfetch.Choose(s)[0]; strings.Contains(r.Cure.String(), "Now:") || !strings.HasPrefix(r.Cure.String(), other) {
			t.Errorf("%s: a cure that does not help: %q", said, r.Cure)
		}
		s.Disk, s.Memory, s.AllDisk, s.AllMemory = disk, memory, 500e9, 25e9
	}
}

// Codes and amounts from a server are translated into our own sentences, with the cure of the
// first.
func TestRefusalsByCode(t *testing.T) {
	disk := prefs.Bound{Key: "disk_max_used_gb", Text: words.Plain("disk_max_used_gb = 2"), Cure: words.Plain("Set disk_max_used_gb higher.")}
	for _, tt := range []struct {
		name    string
		refused []reason.Reason
		text    string
		cure    string
	}{
		{
			"a limit",
			[]reason.Reason{{Code: "tasks_in_progress", Need: 9, Have: 8}},
			"The last request brought no work. This computer has the 8 tasks of the project that it may have at a time. Trying again ", "Wait: more can be fetched once some are reported.",
		},
		{
			"several, one twice",
			[]reason.Reason{{Code: "disk", App: "a", Need: 10 << 30, Have: 2 << 30}, {Code: "has_one"}, {Code: "has_one"}, {Code: "chain"}, {Code: "other"}},
			"The last request brought no work. Tasks of a need 10 GB of disk space, and may use 2 GB here. The remaining tasks belong to workunits of which this computer already has or had one. " +
				"The next task of a chain follows once the result that this computer reported is validated. Trying again ",
			"Set disk_max_used_gb higher. Now: disk_max_used_gb = 2.",
		},
		{
			"impossible",
			[]reason.Reason{{Code: "memory", Need: 838 << 30, Have: 10 << 30}},
			"The last request brought no work. Its tasks need 838 GB of memory, and may use 10 GB here. Trying again ", "This computer can never run these tasks: they need 838 GB of memory, and it has 25 GB.",
		},
		{"of a newer server", []reason.Reason{{Code: "moonphase"}}, "The last request brought no work. The remaining tasks could not be sent to this computer. Trying again ", "Wait: this ends without your help."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := snapshot(nil, known(func(p *workfetch.Project) {
				p.Backoff, p.BackoffWhy, p.Refused = now.Add(time.Hour), "The last request brought no work (the server's words)", tt.refused
			}))
			s.Disk, s.AllMemory = disk, 25<<30
			if r := workfetch.Choose(s)[0]; r.Code != reason.NoWorkBackoff || !strings.HasPrefix(r.Text.String(), tt.text) || !strings.HasPrefix(r.Cure.String(), tt.cure) {
				t.Errorf("got %+v", r)
			}
		})
	}
}
