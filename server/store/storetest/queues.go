package storetest

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

func queues(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	wu, rs := Add(t, s, w.Workunit("a"), 1)
	lens := func(when time.Time) (out [5]int) {
		view(t, s, func(tx *store.Tx) error {
			for i, q := range []func() ([]int64, error){
				func() ([]int64, error) { return tx.Due(when, 10) },
				func() ([]int64, error) { return tx.NeedValidate(0, 10) },
				func() ([]int64, error) { return tx.ToAssimilate(0, 10) },
				func() ([]int64, error) { return tx.WorkunitsToDelete(0, 10) },
				func() ([]int64, error) { return tx.ResultsToDelete(0, 10) },
			} {
				ids, err := q()
				if err != nil {
					return err
				}
				out[i] = len(ids)
			}
			return nil
		})
		return out
	}
	if got, want := lens(T0), [5]int{1, 0, 0, 0, 0}; got != want {
		t.Errorf("new: got %v, want %v", got, want)
	}
	if got, want := lens(T0.Add(-time.Second)), [5]int{}; got != want {
		t.Errorf("before it is due: got %v, want %v", got, want)
	}
	step := func(change func(*store.Workunit), want [5]int) {
		t.Helper()
		after := wu
		change(&after)
		update(t, s, func(tx *store.Tx) error { return tx.SaveWorkunit(wu, after) })
		wu = after
		if got := lens(T0); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	step(func(w *store.Workunit) { w.TransitionTime = store.Never }, [5]int{})
	step(func(w *store.Workunit) { w.NeedValidate = true }, [5]int{0, 1, 0, 0, 0})
	step(func(w *store.Workunit) { w.NeedValidate, w.AssimilateState = false, store.AssimilateReady }, [5]int{0, 0, 1, 0, 0})
	step(func(w *store.Workunit) {
		w.AssimilateState, w.FileDeleteState = store.AssimilateDone, store.DeleteReady
	}, [5]int{0, 0, 0, 1, 0})
	gone := rs[0]
	gone.FileDeleteState = store.DeleteReady
	update(t, s, func(tx *store.Tx) error { return tx.SaveResult(rs[0], gone) })
	if got, want := lens(T0), [5]int{0, 0, 0, 1, 1}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	update(t, s, func(tx *store.Tx) error { return tx.TransitionBy(wu.ID, T0.Add(time.Hour)) })
	update(t, s, func(tx *store.Tx) error { return tx.TransitionBy(wu.ID, T0.Add(2*time.Hour)) })
	view(t, s, func(tx *store.Tx) error {
		got, err := tx.Workunit(wu.ID)
		if !got.TransitionTime.Equal(T0.Add(time.Hour)) {
			t.Errorf("transition time %v, want the earlier of two", got.TransitionTime)
		}
		return err
	})
}

func unsent(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	for i, prio := range []int64{0, 5, 0, 5} {
		wu := w.Workunit(fmt.Sprint("w", i))
		wu.Priority = prio
		Add(t, s, wu, 1)
	}
	var got []int64
	view(t, s, func(tx *store.Tx) error {
		for prio, after := int64(math.MaxInt64), int64(0); ; {
			list, err := tx.Unsent(prio, after, 3)
			if err != nil || len(list) == 0 {
				return err
			}
			for _, c := range list {
				got = append(got, c.WorkunitID)
				prio, after = c.Priority, c.ID
			}
		}
	})
	if want := []int64{2, 4, 1, 3}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func jobs(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	a, of := Add(t, s, w.Workunit("a"), 2)
	b, _ := Add(t, s, w.Workunit("b"), 0)
	_, others := Add(t, s, w.Workunit("c"), 1)
	view(t, s, func(tx *store.Tx) error {
		got, err := tx.Jobs([]int64{b.ID, a.ID, 99})
		want := map[int64]store.Job{a.ID: {Workunit: a, Results: of}, b.ID: {Workunit: b}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
		if got, err := tx.Jobs(nil); err != nil || len(got) != 0 {
			t.Errorf("none: got %+v, %v", got, err)
		}
		if _, err := tx.Job(99); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("one that is not there: %v", err)
		}
		results, err := tx.Results([]int64{others[0].ID, of[1].ID})
		if err != nil || len(results) != 2 || results[of[1].ID] != of[1] || results[others[0].ID] != others[0] {
			t.Errorf("got %+v, %v", results, err)
		}
		return nil
	})
}

func shared(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	a, _ := Add(t, s, w.Workunit("a"), 0, "in1", "in2")
	b, _ := Add(t, s, w.Workunit("b"), 0, "in2")
	view(t, s, func(tx *store.Tx) error {
		for name, want := range map[string]bool{"in1": false, "in2": true} {
			if got, err := tx.FileShared(name, a.ID); err != nil || got != want {
				t.Errorf("%s: got %v, %v; want %v", name, got, err, want)
			}
		}
		return nil
	})
	done := b
	done.AssimilateState, done.FileDeleteState = store.AssimilateDone, store.DeleteDone
	update(t, s, func(tx *store.Tx) error { return SaveWorkunit(tx, b, done) })
	view(t, s, func(tx *store.Tx) error {
		if got, err := tx.FileShared("in2", a.ID); err != nil || got {
			t.Errorf("after the other's end: got %v, %v; want false", got, err)
		}
		return nil
	})
}
