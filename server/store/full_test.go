package store_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// When the disk is full changes fail, all that was said to be done stays, and
// when there is room again all goes on.
func TestAFullDisk(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "project.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := storetest.Fill(t, s)
	limit := func(pages int) {
		t.Helper()
		err := s.Update(t.Context(), func(tx *store.Tx) error {
			return store.Exec(tx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	add := func(i int) error {
		return s.Update(t.Context(), func(tx *store.Tx) error {
			wu := w.Workunit(fmt.Sprint("wu", i))
			wu.XMLDoc = strings.Repeat("x", 100_000)
			_, err := tx.InsertWorkunit(wu, nil)
			return err
		})
	}
	limit(200) // of 4 KB
	stored := 0
	for stored < 20 {
		if err = add(stored); err != nil {
			break
		}
		stored++
	}
	if stored == 0 || err == nil || !strings.Contains(err.Error(), "full") {
		t.Fatalf("after %d: %v", stored, err)
	}
	if err := add(99); err == nil {
		t.Error("no error the second time")
	}
	count := func(want int) {
		t.Helper()
		err := s.View(t.Context(), func(tx *store.View) error {
			st, err := tx.Status(0)
			if st.Workunits.Total != int64(want) {
				t.Errorf("%d workunits, want %d", st.Workunits.Total, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	count(stored)
	limit(1 << 20)
	if err := add(99); err != nil {
		t.Error(err)
	}
	count(stored + 1)
}
