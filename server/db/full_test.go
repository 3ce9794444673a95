package db

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testpg"
)

// While the disk is full, changes fail and earlier ones are kept. When there is space again, changes
// succeed.
func TestAFullDisk(t *testing.T) {
	d := open(t, "")
	limit := func(pages int) {
		t.Helper()
		err := d.Update(t.Context(), func(tx *Tx) error {
			_, err := tx.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	add := func(i int) error {
		return d.Update(t.Context(), func(tx *Tx) error {
			return tx.Add(addAccount, fmt.Sprint(i, strings.Repeat("x", 50_000))) // the name is in an index, too
		})
	}
	limit(200) // of 4 KB
	stored := 0
	var err error
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
		err := d.View(t.Context(), func(v *View) error {
			n, err := One(v, ScanID, "SELECT count(*) FROM account")
			if n != int64(want) {
				t.Errorf("%d accounts, want %d", n, want)
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

// Faults of PostgreSQL's disk have their cause. The server reports one as it would itself.
func TestFaultsOfPostgresDisk(t *testing.T) {
	d := open(t, testpg.Start(t).Database(t))
	for code, want := range map[string]error{"53100": ErrFull, "58030": ErrDisk} {
		err := d.Update(t.Context(), func(tx *Tx) error {
			_, err := tx.Exec(fmt.Sprintf("DO $$ BEGIN RAISE EXCEPTION 'as if' USING ERRCODE = '%s'; END $$", code))
			return err
		})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", code, err, want)
		}
	}
}
