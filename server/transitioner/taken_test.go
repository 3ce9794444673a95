package transitioner_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/server/setting"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/transitioner"
)

// A workunit whose outcome was taken is looked at in the same transaction, unless that concerns more
// than its files: then the transitioner looks at it next.
func TestTheLookAfterAnOutcomeWasTaken(t *testing.T) {
	failed := func(r *store.Result) { r.ServerState, r.Outcome = store.Over, store.ClientError }
	ready := func(w *store.Workunit) {
		w.AssimilateState, w.ErrorMask = store.AssimilateReady, store.ErrorTooManyErrors
	}
	leftAlone := func(w *store.Workunit) { w.TransitionerFlags = 1 }
	type states struct {
		taken         bool
		input, output store.FileDeleteState
		next          time.Time // when the transitioner looks
	}
	now := storetest.T0
	for _, tt := range []struct {
		name     string
		given    func(*store.Workunit)
		result   func(*store.Result)   // as it becomes after it was sent. nil: without a result
		before   func(*store.Workunit) // as it becomes before it is recorded
		followed bool
		delay    setting.Hours
		want     states
	}{
		{"all is over", nil, failed, ready, false, 0, states{true, store.DeleteReady, store.DeleteReady, store.Never}},
		{"its files are kept", nil, failed, ready, false, 24, states{taken: true, next: now.Add(24 * time.Hour)}},
		{"a result is computed", nil, func(*store.Result) {}, ready, false, 0, states{taken: true, next: now}},
		{"others wait for its outcome", nil, failed, ready, true, 0, states{taken: true, next: now}},
		{"the transitioner is to leave it alone", leftAlone, nil, ready, false, 0, states{taken: true, next: now}},
		{"it was revived", nil, failed, func(*store.Workunit) {}, false, 0, states{next: now}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := storetest.Open(t, t.TempDir())
			w := storetest.Fill(t, st)
			wu := w.Workunit("wu")
			if tt.given != nil {
				tt.given(&wu)
			}
			if tt.result == nil {
				wu, _ = storetest.Add(t, st, wu, 0)
			} else {
				var results []store.Result
				wu, results = storetest.Add(t, st, wu, 1)
				report(t, st, w.Host, results[0], tt.result)
			}
			tr := &transitioner.Transitioner{Settings: transitioner.Settings{DeleteDelay: tt.delay}}
			var got states
			storetest.Update(t, st, func(tx *store.Tx) error {
				if err := store.Change(tx.Workunit, wu.ID, tx.SaveWorkunit, tt.before); err != nil {
					return err
				}
				if tt.followed {
					if err := tx.Chain(wu.ID, now); err != nil {
						return err
					}
				}
				j, err := tx.Job(wu.ID)
				if err != nil {
					return err
				}
				taken, err := tr.Taken(tx, []store.Job{j}, now)
				got.taken = len(taken) == 1
				return err
			})
			j := storetest.Get(t, st, (*store.View).Job, wu.ID)
			got.input, got.next = j.Workunit.FileDeleteState, j.Workunit.TransitionTime.UTC()
			for _, r := range j.Results {
				got.output = r.FileDeleteState
			}
			tt.want.next = tt.want.next.UTC()
			if state := j.Workunit.AssimilateState; got != tt.want || (state == store.AssimilateDone) != tt.want.taken {
				t.Errorf("got %+v, assimilate_state %v, want %+v", got, state, tt.want)
			}
		})
	}
}

// report sends a result to a host and changes it then.
func report(t *testing.T, st *store.Store, host store.Host, r store.Result, change func(*store.Result)) {
	t.Helper()
	storetest.Update(t, st, func(tx *store.Tx) error {
		r.ServerState, r.HostID, r.SentTime, r.ReportDeadline = store.InProgress, host.ID, storetest.T0, storetest.T0.Add(time.Hour)
		if err := tx.Send(r); err != nil {
			return err
		}
		after := r
		change(&after)
		return tx.SaveResult(r, after)
	})
}

// The last results of a batch become urgent when the outcome before them was taken.
func TestABatchEndsWhenAnOutcomeWasTaken(t *testing.T) {
	st := storetest.Open(t, t.TempDir())
	w := storetest.Fill(t, st)
	var done []store.Workunit
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		wu := w.Workunit(name)
		wu.Batch = 7
		wu, _ = storetest.Add(t, st, wu, 0)
		done = append(done, wu)
	}
	last := w.Workunit("last")
	last.Batch = 7
	last, _ = storetest.Add(t, st, last, 1)
	tr := new(transitioner.Transitioner)
	tr.Urgent.BatchEnd, tr.Urgent.OnPriority = 5, 100
	for _, wu := range done {
		storetest.Update(t, st, func(tx *store.Tx) error {
			err := store.Change(tx.Workunit, wu.ID, tx.SaveWorkunit, func(w *store.Workunit) {
				w.AssimilateState, w.ErrorMask = store.AssimilateReady, store.ErrorTooManyErrors
			})
			if err != nil {
				return err
			}
			j, err := tx.Job(wu.ID)
			if err != nil {
				return err
			}
			_, err = tr.Taken(tx, []store.Job{j}, storetest.T0)
			return err
		})
	}
	if got := storetest.Get(t, st, (*store.View).Job, last.ID).Results[0].Priority; got != 100 {
		t.Errorf("the last result has priority %d", got)
	}
}
