package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/starling-grid/starling/server/store"
)

// batches checks that the end of a batch is noticed, and that its last results can be raised.
func batches(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	var wus []store.Workunit
	for i := range 30 {
		wu := w.Workunit(fmt.Sprint("wu", i))
		if wu.Batch = 7; i >= 20 { // ten of no batch
			wu.Batch = 0
		}
		wu, _ = Add(t, s, wu, 1)
		wus = append(wus, wu)
	}
	other := w.Workunit("other")
	other.Batch = 8
	Add(t, s, other, 1)
	finish := func(i int) {
		after := wus[i]
		after.ErrorMask = store.ErrorCancelled
		if i%2 == 0 {
			after.ErrorMask, after.CanonicalResultID = 0, 1
		}
		Update(t, s, func(tx *store.Tx) error { return tx.SaveWorkunit(wus[i], after) })
	}
	want := func(batch int64, most int, want bool) {
		t.Helper()
		view(t, s, func(tx *store.View) error {
			got, err := tx.AtBatchEnd(batch, most)
			if got != want {
				t.Errorf("batch %d nears its end, with at most %d left: %v, want %v", batch, most, got, want)
			}
			return err
		})
	}
	for i := range 17 {
		finish(i)
	}
	want(7, 100, false) // 3 of 20
	finish(17)
	want(7, 100, true)
	want(7, 2, true)
	want(7, 1, false)
	want(8, 100, false) // has one
	want(9, 100, false) // empty
	want(0, 100, false) // not a batch
	send := func(name string) {
		Update(t, s, func(tx *store.Tx) error {
			r, err := tx.ResultByName(name)
			r.HostID, r.UserID, r.SentTime, r.ReportDeadline = w.Host.ID, w.User.ID, T0, T0
			if err != nil {
				return err
			}
			return tx.Send(r)
		})
	}
	send("wu18_0")
	Update(t, s, func(tx *store.Tx) error {
		return tx.AddResult(store.Result{
			CreateTime: T0, WorkunitID: wus[18].ID, AppID: wus[18].AppID, Name: "wu18_1", XMLDocIn: "<result>\n</result>\n", Priority: 12,
			ServerState: store.Unsent, Kind: wus[18].Kind(),
		})
	})
	view(t, s, func(tx *store.View) error {
		list, err := tx.Unsent(wus[18].Kind(), store.First, 99, store.Slice{})
		if i := slices.IndexFunc(list, func(c store.Candidate) bool { return c.Name == "wu18_1" }); i < 0 || list[i].Batch != wus[18].Batch {
			t.Errorf("candidates %+v, want one of batch %d", list, wus[18].Batch)
		}
		return err
	})
	Update(t, s, func(tx *store.Tx) error { return tx.RaiseBatch(7, 9) })
	view(t, s, func(tx *store.View) error {
		for name, want := range map[string]int64{"wu0_0": 0, "wu18_0": 0, "wu18_1": 12, "wu19_0": 9, "wu20_0": 0, "other_0": 0} {
			r, err := tx.ResultByName(name)
			if err != nil {
				return err
			}
			if r.Priority != want {
				t.Errorf("%s has priority %d, want %d", name, r.Priority, want)
			}
		}
		return nil
	})
	finish(18)
	finish(19)
	want(7, 100, false) // nothing is left
}
