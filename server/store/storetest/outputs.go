package storetest

import (
	"slices"
	"testing"

	"github.com/starling-grid/starling/server/store"
)

// outputs of workunits are passed on to those that wait for them, in order, unless these were given
// up. Until then their files are kept.
func outputs(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	before, results := Add(t, s, w.Workunit("before"), 1)
	var waiting []store.Workunit
	var all []store.AwaitedOutput
	Update(t, s, func(tx *store.Tx) error {
		for _, name := range []string{"first", "second"} {
			wu := w.Workunit(name)
			wu.Awaiting = true
			if name == "second" {
				wu.Batch = 3
			}
			id, err := InsertWorkunit(tx, wu)
			if err != nil {
				return err
			}
			wu.ID = id
			if wu, err = tx.Workunit(id); err != nil {
				return err
			}
			waiting = append(waiting, wu)
			for _, output := range []string{"", "out"} {
				o := store.AwaitedOutput{WorkunitID: id, Predecessor: before.ID, Output: output, Name: output + "_file"}
				all = append(all, o)
				if err := tx.AwaitOutput(o); err != nil {
					return err
				}
			}
		}
		return nil
	})
	precedences(t, s, w, before, waiting[1])
	want := func(when string, want ...store.AwaitedOutput) {
		t.Helper()
		view(t, s, func(tx *store.View) error {
			var got []store.AwaitedOutput
			for after := (store.AwaitedOutput{}); ; after = got[len(got)-1] {
				page, err := tx.OutputsToPass(after, 1)
				if err != nil {
					return err
				}
				if len(page) == 0 {
					break
				}
				got = append(got, page...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: to pass on are %+v, want %+v", when, got, want)
			}
			return nil
		})
	}
	kept := func(when string, kept bool) {
		t.Helper()
		view(t, s, func(tx *store.View) error {
			ids, err := tx.Waiting(store.OutputsToDelete, 0, 9)
			if err != nil || (len(ids) == 0) != kept {
				t.Errorf("%s: the files of results %v may go, %v; kept: want %v", when, ids, err, kept)
			}
			return nil
		})
	}
	Update(t, s, func(tx *store.Tx) error {
		r := results[0]
		r.ServerState, r.Outcome, r.FileDeleteState = store.Over, store.DidntNeed, store.DeleteReady
		return tx.SaveResult(results[0], r)
	})
	want("at first")
	kept("at first", true)
	Update(t, s, func(tx *store.Tx) error { return tx.ReadyOutputs(before.ID, true) })
	want("with an outcome", all...)
	came := func(i int, last bool) {
		t.Helper()
		Update(t, s, func(tx *store.Tx) error {
			o := all[i]
			old, err := tx.Workunit(o.WorkunitID)
			if err != nil {
				return err
			}
			got, err := tx.OutputCame(old, o, old.XMLDoc)
			if now, _ := tx.Workunit(o.WorkunitID); got != last || now.Awaiting == last {
				t.Errorf("after output %d: the last is %v, want %v; %+v", i, got, last, now)
			}
			return err
		})
	}
	came(0, false)
	came(1, true)
	want("with one served", all[2:]...)
	kept("with one served", true)
	Update(t, s, func(tx *store.Tx) error {
		wu := waiting[1]
		wu.ErrorMask = store.ErrorPredecessor
		return tx.SaveWorkunit(waiting[1], wu)
	})
	want("with the other given up")
	kept("with the other given up", false)
	view(t, s, func(tx *store.View) error {
		left, err := tx.AwaitedOutputsOf(waiting[1].ID)
		if err != nil || !slices.Equal(left, all[2:]) {
			t.Errorf("it waits for %+v, %v", left, err)
		}
		return nil
	})
}

// precedences checks for which workunits others of a batch wait.
func precedences(t *testing.T, s *store.Store, w World, before, second store.Workunit) {
	t.Helper()
	third := w.Workunit("third")
	third.Batch, third.Awaiting, third.Predecessor, third.PredecessorPending = second.Batch, true, second.ID, true
	third, _ = Add(t, s, third, 0)
	want := []store.Precedence{{Before: before.ID, After: second.ID}, {Before: before.ID, After: second.ID}, {Before: second.ID, After: third.ID}}
	view(t, s, func(tx *store.View) error {
		var got []store.Precedence
		err := tx.Ask(store.Precedences(second.Batch, func(p store.Precedence) { got = append(got, p) }))
		if !slices.Equal(got, want) {
			t.Errorf("in the batch %v wait, want %v", got, want)
		}
		return err
	})
}
