package storetest

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// joined makes several changes of several rows in one transaction, some rows twice, with additions
// between. Each change builds on the one before it, or none is made.
func joined(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	var wus []store.Workunit
	var results []store.Result
	for _, name := range []string{"a", "b", "c"} {
		wu, rs := Add(t, s, w.Workunit(name), 1)
		wus, results = append(wus, wu), append(results, rs...)
	}
	change := func(tx *store.Tx) error {
		for i := range wus {
			r, wu := results[i], wus[i]
			r.ServerState, r.Outcome = store.Over, store.DidntNeed
			if err := tx.SaveResult(results[i], r); err != nil {
				return err
			}
			if err := tx.AddResult(store.Result{
				CreateTime: T0, WorkunitID: wu.ID, AppID: wu.AppID, Name: wu.Name + "_1", XMLDocIn: "<result>\n</result>\n",
				ServerState: store.Unsent, Kind: wu.Kind(),
			}); err != nil {
				return err
			}
			wu.ErrorMask, wu.TransitionTime = store.ErrorCancelled, T0.Add(time.Duration(i)*time.Minute)
			if err := tx.SaveWorkunit(wus[i], wu); err != nil {
				return err
			}
			if i == 1 { // once more
				last := wu
				last.TransitionTime = T0.Add(time.Hour)
				if err := tx.SaveWorkunit(wu, last); err != nil {
					return err
				}
			}
		}
		return nil
	}
	stale := wus[2]
	wus[2].TargetNResults++
	lost(t, s, change, store.ErrLost)
	wus[2] = stale
	view(t, s, func(tx *store.View) error {
		for i, old := range wus {
			j, err := tx.Job(old.ID)
			if err != nil {
				return err
			}
			if j.Workunit != old || len(j.Results) != 1 || j.Results[0] != results[i] {
				t.Errorf("after a loss: got %+v, want %+v", j, old)
			}
		}
		return nil
	})
	Update(t, s, change)
	view(t, s, func(tx *store.View) error {
		for i, at := range []time.Time{T0, T0.Add(time.Hour), T0.Add(2 * time.Minute)} {
			j, err := tx.Job(wus[i].ID)
			if err != nil {
				return err
			}
			if wu := j.Workunit; wu.ErrorMask != store.ErrorCancelled || !wu.TransitionTime.Equal(at) {
				t.Errorf("%s: error mask %v, transition at %v, want %v", wu.Name, wu.ErrorMask, wu.TransitionTime, at)
			}
			if len(j.Results) != 2 || j.Results[0].Outcome != store.DidntNeed || j.Results[1].Name != wus[i].Name+"_1" {
				t.Errorf("%s: results %+v", wus[i].Name, j.Results)
			}
		}
		return nil
	})
}
