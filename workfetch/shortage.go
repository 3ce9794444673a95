package workfetch

import (
	"fmt"
	"strings"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
)

// enough returns the remedy if the server's reply shows that this computer had too little disk or
// memory for a project. It names the preference that sets the limit, with its value here, or states
// that nothing helps. It returns "" if the shortage was something else.
func (f *fetcher) enough(of Stream) string {
	var cures []string
	for _, x := range []struct {
		code  reason.Code
		bound prefs.Bound
		all   int64
		what  string
	}{
		{reason.RefusedDisk, f.Disk, f.AllDisk, "of disk space"},
		{reason.RefusedMemory, f.Memory, f.AllMemory, "of memory"},
	} {
		switch need := needs(of.Refused, x.code); {
		case need == 0 && !reason.Short(x.code, of.BackoffWhy):
		case need > x.all && x.all > 0:
			cures = append(cures, fmt.Sprintf("This computer can never run these tasks: they need %s %s, and it has %s. %s.", words.Bytes(need), x.what, words.Bytes(x.all), reason.Elsewhere))
		case x.bound.Cure != "":
			cures = append(cures, x.bound.Cure+" Now: "+x.bound.Text+".")
		}
	}
	return strings.Join(cures, " ")
}
