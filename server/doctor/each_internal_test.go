package doctor

import (
	"fmt"
	"testing"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// A row that has left the queue since it was looked at is not reported.
func TestEach(t *testing.T) {
	st := storetest.Open(t, "")
	w := storetest.Fill(t, st)
	for i := range 3 {
		storetest.Add(t, st, w.Workunit(fmt.Sprint("wu", i)), 0)
	}
	look := func(_ *store.View, ids []int64) (func(int64) []string, error) {
		return func(id int64) []string {
			if id == ids[0] {
				storetest.Update(t, st, func(tx *store.Tx) error {
					return store.Change(tx.Workunit, id, tx.SaveWorkunit, func(wu *store.Workunit) { wu.ErrorMask = store.ErrorCancelled })
				})
			}
			return []string{fmt.Sprint("file", id)}
		}, nil
	}
	var f found
	if err := (&Project{Store: st}).each(t.Context(), store.NeedInputs, &f, look); err != nil || f.Count != 2 {
		t.Errorf("found %+v, %v", f, err)
	}
}
