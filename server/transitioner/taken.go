package transitioner

import (
	"errors"
	"slices"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// Taken records that the project took the outcomes of workunits, and returns the recorded ones. Where
// all results are over, the transitioner's next look, which is usually about the files alone, takes place
// in the same transaction. It can be called during a Pass.
func (t *Transitioner) Taken(tx *store.Tx, jobs []store.Job, now time.Time) (taken []store.Workunit, err error) {
	tx.SetCause(now, "assimilator", "the assimilator accepted its outcome")
	for _, j := range jobs {
		if j.Workunit.AssimilateState != store.AssimilateReady {
			continue
		}
		wu := j.Workunit
		wu.AssimilateState, wu.ModTime, wu.TransitionTime = store.AssimilateDone, now, now
		if wu.CanonicalResultID == 0 && wu.ErrorMask == 0 {
			wu.ErrorMask = store.ErrorNoCanonical
		}
		if looksAlone(wu, j.Results) {
			plan := Decide(wu, j.Results, now, t.DeleteDelay.Duration(), Made{})
			err = t.apply(tx, j.Workunit, plan.of(wu), j.Results, plan, nil)
		} else {
			err = tx.SaveWorkunit(j.Workunit, wu)
		}
		if err == nil {
			taken = append(taken, wu)
		} else if !errors.Is(err, store.ErrLost) {
			return taken, err
		}
	}
	return taken, t.endBatches(tx, taken)
}

// looksAlone reports whether a look at a workunit that has its outcome concerns that workunit alone, and
// neither computers nor other workunits.
func looksAlone(wu store.Workunit, results []store.Result) bool {
	running := func(r store.Result) bool { return r.ServerState != store.Over }
	const leaveAlone = 1
	return !wu.HasSuccessor && wu.TransitionerFlags != leaveAlone && !slices.ContainsFunc(results, running)
}
