package workfetch

import (
	"fmt"
	"strings"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
)

// Parts of the sentences in which BOINC's servers refuse a computer that has too little of
// something, in lower case. They give no code.
//
// Source: BOINC sched/sched_check.cpp.
const (
	tooLittleMemory = "mb ram but only"
	tooLittleDisk   = "more disk space"
)

// enough returns the remedy if the server's reply shows that this computer had too little disk or
// memory for a project. It names the preference that sets the limit, with its value here, or states
// that nothing helps. It returns "" if the shortage was something else.
func (f *fetcher) enough(of Stream) string {
	said := strings.ToLower(of.BackoffWhy)
	var cures []string
	for _, x := range []struct {
		part      string // of the words of a server without codes
		bound     prefs.Bound
		need, all int64
		what      string
	}{
		{tooLittleDisk, f.Disk, needs(of.Refused, refusedDisk), f.AllDisk, "of disk space"},
		{tooLittleMemory, f.Memory, needs(of.Refused, refusedMemory), f.AllMemory, "of memory"},
	} {
		switch {
		case x.need == 0 && !strings.Contains(said, x.part):
		case x.need > x.all && x.all > 0:
			cures = append(cures, fmt.Sprintf("This computer can never run these tasks: they need %s %s, and it has %s. %s.", words.Bytes(x.need), x.what, words.Bytes(x.all), elsewhere))
		case x.bound.Cure != "":
			cures = append(cures, x.bound.Cure+" Now: "+x.bound.Text+".")
		}
	}
	return strings.Join(cures, " ")
}
