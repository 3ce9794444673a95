package workfetch

import (
	"strings"

	"github.com/starling-grid/starling/prefs"
)

// Parts of how servers say that this computer has too little of something, in lower case:
// such refusals have no code that all servers send.
//
// Source: BOINC sched/sched_check.cpp; server/scheduler.
var (
	tooLittleMemory = []string{"more memory than this computer allows", "mb ram but only"}
	tooLittleDisk   = []string{"more disk space"}
)

// enough says what a person can do for this computer to have enough disk or memory for
// a project, if that is what it lacked by the words of its server: the preference that
// limits it, with its value here. It returns "" if it was not that, or no preference helps.
func (f *fetcher) enough(said string) string {
	said = strings.ToLower(said)
	var cures []string
	for _, x := range []struct {
		parts []string
		bound prefs.Bound
	}{{tooLittleDisk, f.Disk}, {tooLittleMemory, f.Memory}} {
		for _, part := range x.parts {
			if x.bound.Cure != "" && strings.Contains(said, part) {
				cures = append(cures, x.bound.Cure+" Now: "+x.bound.Text+".")
				break
			}
		}
	}
	return strings.Join(cures, " ")
}
