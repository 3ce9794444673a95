package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/starling-grid/starling/server/store"
)

func targets(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	list := []store.Target{{}, {Type: store.TargetHost, ID: 7}, {Type: store.TargetUser, ID: 7}, {Type: store.TargetUser, ID: 8}, {Type: store.TargetTeam, ID: 7}}
	kinds := func(tx *store.View, target store.Target) (kinds []int64) {
		found := func(kind int64) { kinds = append(kinds, kind) }
		ask := store.UnsentKindsFor(target, found)
		if target == (store.Target{}) {
			ask = store.UnsentKinds(found)
		}
		if err := tx.Ask(ask); err != nil {
			t.Fatal(err)
		}
		return kinds
	}
	some := func(want bool) {
		t.Helper()
		view(t, s, func(tx *store.View) error {
			got := false
			if err := tx.Ask(store.Targeted(func(int64) { got = true })); err != nil {
				return err
			}
			if got != want {
				t.Errorf("something is targeted: %v, want %v", got, want)
			}
			return nil
		})
	}
	Add(t, s, w.Workunit("anybody's"), 1)
	some(false)
	for i, target := range list {
		for j, memory := range []float64{1e6, 1e9} {
			wu := w.Workunit(fmt.Sprint("w", i, j))
			wu.Target, wu.RscMemoryBound = target, memory
			wu, _ = Add(t, s, wu, 1)
			if got := Get(t, s, (*store.View).Workunit, wu.ID); got.Target != target {
				t.Errorf("target %v, want %v", got.Target, target)
			}
		}
	}
	some(true)
	view(t, s, func(tx *store.View) error {
		for i, target := range list {
			got := kinds(tx, target)
			if len(got) != 2 {
				t.Errorf("%v: kinds %v, want two", target, got)
			}
			for _, k := range got {
				if want := target == (store.Target{}); k > 0 != want {
					t.Errorf("%v: kind %d, for anybody: %v", target, k, want)
				}
				c, err := tx.Unsent(k, store.First, 9, store.Slice{})
				if err != nil {
					return err
				}
				if slices.ContainsFunc(c, func(c store.Candidate) bool { return c.Target != target }) {
					t.Errorf("%v: found %+v", list[i], c)
				}
			}
		}
		if got := kinds(tx, store.Target{Type: store.TargetHost, ID: 8}); len(got) != 0 {
			t.Errorf("kinds %v for a host without work of its own", got)
		}
		return nil
	})
}
