package workfetch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/starling-grid/starling/internal/words"
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

// enough is what a person can do for this computer to have enough disk or memory for
// a project, if that is what it lacked by the words of its server: the preference that
// limits it, with its value here, or that nothing helps. It returns "" if it was not that.
func (f *fetcher) enough(of Stream) string {
	said := strings.ToLower(of.BackoffWhy)
	var cures []string
	for _, x := range []struct {
		parts     []string
		bound     prefs.Bound
		need, all int64
		what      string
	}{
		{tooLittleDisk, f.Disk, of.NeedsDisk, f.AllDisk, "of disk space"},
		{tooLittleMemory, f.Memory, of.NeedsMemory, f.AllMemory, "of memory"},
	} {
		switch {
		case !slices.ContainsFunc(x.parts, func(part string) bool { return strings.Contains(said, part) }):
		case x.need > x.all && x.all > 0:
			cures = append(cures, fmt.Sprintf("This computer can never run these tasks: they need %s %s, and it has %s. %s.", words.Bytes(x.need), x.what, words.Bytes(x.all), elsewhere))
		case x.bound.Cure != "":
			cures = append(cures, x.bound.Cure+" Now: "+x.bound.Text+".")
		}
	}
	return strings.Join(cures, " ")
}
