package workfetch

import (
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
)

// enough returns the remedy if the server's reply shows that this computer had too little disk or
// memory for a project. It names the preference that sets the limit, with its value here, or states
// that nothing helps. It is empty if the shortage was something else.
func (f *fetcher) enough(of Stream) words.Text {
	var cures []words.Text
	for _, x := range []struct {
		code  reason.Code
		bound prefs.Bound
		all   int64
		never string
	}{
		{reason.RefusedDisk, f.Disk, f.AllDisk, "This computer can never run these tasks: they need {need} of disk space, and it has {all}."},
		{reason.RefusedMemory, f.Memory, f.AllMemory, "This computer can never run these tasks: they need {need} of memory, and it has {all}."},
	} {
		switch need := needs(of.Refused, x.code); {
		case need == 0 && !reason.Short(x.code, of.BackoffWhy):
		case need > x.all && x.all > 0:
			cures = append(cures, words.T(x.never, "need", words.Bytes(need), "all", words.Bytes(x.all)), words.T("{sentence}.", "sentence", words.T(reason.Elsewhere)))
		case x.bound.Cure.Is():
			cures = append(cures, x.bound.Cure, words.T("Now: {setting}.", "setting", x.bound.Text))
		}
	}
	return words.And(cures...)
}
