package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/starling-grid/starling/server/store"
)

// workunits inserts several workunits at once.
func workunits(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	named := func(names ...string) (list []store.NewWorkunit) {
		for _, name := range names {
			list = append(list, store.NewWorkunit{Workunit: w.Workunit(name), Files: []string{"of_" + name, "of_all"}})
		}
		return list
	}
	all := []string{"e", "d", "c", "b", "a"}
	var ids []int64
	Update(t, s, func(tx *store.Tx) (err error) {
		ids, err = tx.InsertWorkunits(named(all...)...)
		return err
	})
	if !slices.IsSorted(ids) || len(ids) != len(all) {
		t.Fatalf("ids are %v", ids)
	}
	for i, name := range all {
		if wu := Get(t, s, (*store.View).WorkunitByName, name); wu.ID != ids[i] {
			t.Errorf("workunit %s has number %d, want %d", name, wu.ID, ids[i])
		}
		if needed := Get(t, s, (*store.View).FileNeeded, "of_"+name); !needed {
			t.Errorf("the file of workunit %s is not needed", name)
		}
	}

	for _, tt := range []struct {
		names  []string
		before int // the one whose name is taken
	}{
		{[]string{"f", "g", "b", "h"}, 2},
		{[]string{"a"}, 0},
		{[]string{"f", "g", "h", "f", "g"}, 3},
		{[]string{"f", "d", "f"}, 1},
	} {
		var ids []int64
		err := s.Update(t.Context(), func(tx *store.Tx) (err error) {
			ids, err = tx.InsertWorkunits(named(tt.names...)...)
			return err
		})
		if want := fmt.Sprintf("workunit %s: %v", tt.names[tt.before], store.ErrExists); !errors.Is(err, store.ErrExists) || err.Error() != want || len(ids) != tt.before {
			t.Errorf("%v: got %d ids and %v, want %d and %s", tt.names, len(ids), err, tt.before, want)
		}
	}
	if st := Get(t, s, (*store.View).Status, T0.Unix()); st.Workunits.Total != int64(len(all)) {
		t.Errorf("there are %d workunits, want %d", st.Workunits.Total, len(all))
	}
}
