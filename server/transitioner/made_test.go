package transitioner_test

import (
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/transitioner"
)

// A workunit that needs a file made on a computer is given up if no computer that has the file made
// contact for a long time. It is not given up before that, nor while it is being computed.
func TestFilesThatNobodyHas(t *testing.T) {
	for _, tt := range []struct {
		name    string
		results []store.Result
		until   time.Time
		mask    store.ErrorMask
		next    time.Time
	}{
		{"a computer was heard of", []store.Result{unsent, unsent}, due, 0, due},
		{"none was for long", []store.Result{unsent, unsent}, now, store.ErrorCouldntSend, store.Never},
		{"all its results were sent", []store.Result{inProgress, inProgress}, now, 0, due.Add(time.Second)},
		{"one is computed, and another can be sent to nobody", []store.Result{inProgress, unsent}, now, store.ErrorCouldntSend, due.Add(time.Second)},
		{"it needs none", []store.Result{unsent, unsent}, time.Time{}, 0, far},
		{"it has its outcome", []store.Result{valid, unsent}, now, 0, store.Never},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wu := workunit(nil)
			for i := range tt.results {
				tt.results[i].ID = int64(i + 1)
				if tt.results[i].ValidateState == store.Valid {
					wu.CanonicalResultID = tt.results[i].ID
				}
			}
			p := transitioner.Decide(wu, tt.results, now, 0, transitioner.Made{Name: "made", Until: tt.until})
			if p.ErrorMask != tt.mask || !p.TransitionTime.Equal(tt.next) || (p.Lost == "made") != (tt.mask != 0) {
				t.Errorf("got %+v, want mask %d, next look %v", p, tt.mask, tt.next)
			}
			dropped := slices.ContainsFunc(tt.results, func(r store.Result) bool { return r.ServerState == store.Unsent && slices.Contains(p.DidntNeed, r.ID) })
			if tt.mask != 0 && (!dropped || !p.AssimilateReady) {
				t.Errorf("given up, and something is still to be sent: %+v", p)
			}
		})
	}
}
