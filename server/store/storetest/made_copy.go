package storetest

import (
	"slices"
	"testing"

	"github.com/starling-grid/starling/server/store"
)

func copies(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	id := w.Host.ID
	unfinished, _ := Add(t, s, w.Workunit("unfinished"), 1, "made", "other")
	givenUp, _ := Add(t, s, w.Workunit("given up"), 0, "made")
	Update(t, s, func(tx *store.Tx) error {
		after := givenUp
		after.ErrorMask = store.ErrorCancelled
		if err := SaveWorkunit(tx, givenUp, after); err != nil {
			return err
		}
		for _, want := range []bool{true, false} {
			if first, err := tx.WantCopy("made", id, T0); err != nil || first != want {
				t.Errorf("wanted for the first time %t, %v; want %t", first, err, want)
			}
		}
		for _, o := range []store.FileOrder{{Action: store.FileGet, Name: "made"}, {Action: store.FileGet, Name: "mine"}, {Action: store.FilePut, Name: "put"}} {
			o.CreateTime, o.HostID = T0, id
			if _, err := tx.AddFileOrder(o); err != nil {
				return err
			}
		}
		for after, want := range map[string][]string{"": {"made"}, "made": nil} {
			if names, err := tx.WantedCopies(after, 9); err != nil || !slices.Equal(names, want) {
				t.Errorf("wanted after %q: %v, %v", after, names, err)
			}
		}
		for after, want := range map[int64][]int64{0: {unfinished.ID}, unfinished.ID: nil} {
			if ids, err := tx.NeedFile("made", after, 9); err != nil || !slices.Equal(ids, want) {
				t.Errorf("needed after %d: %v, %v", after, ids, err)
			}
		}
		return tx.Describe(unfinished, "<new/>")
	})
	lost(t, s, func(tx *store.Tx) error { return tx.Describe(unfinished, "<newer/>") }, store.ErrLost)
	for range 2 { // a copy may end twice
		Update(t, s, func(tx *store.Tx) error { return tx.EndCopy("made", T0) })
		Update(t, s, func(tx *store.Tx) error {
			wu, err := tx.Workunit(unfinished.ID)
			if err != nil || wu.XMLDoc != "<new/>" {
				t.Errorf("described %q, %v", wu.XMLDoc, err)
			}
			names, err := tx.WantedCopies("", 9)
			if err != nil || len(names) > 0 {
				t.Errorf("still wanted: %v, %v", names, err)
			}
			h, err := tx.Host(id)
			if err != nil {
				return err
			}
			list, err := tx.FileOrders(id, 9)
			if len(list) != 2 || h.FileOrders != 2 || list[0].Name != "mine" || list[1].Name != "put" {
				t.Errorf("%d orders left: %+v", h.FileOrders, list)
			}
			return err
		})
	}
}
