package state

import (
	"encoding/json"
	"testing"
)

// Format is the format that this version writes.
const Format = format

// SetFormat changes the format recorded in a file.
func SetFormat(t testing.TB, db *DB, n int) {
	t.Helper()
	if err := db.Update(func(tx *Tx) {
		tx.writes[change{metaBucket, formatKey}] = func() ([]byte, error) { return json.Marshal(n) }
	}); err != nil {
		t.Fatal(err)
	}
}

// WriteAll writes all records again, as the upgrade from another format does.
func WriteAll(t testing.TB, db *DB) {
	t.Helper()
	if err := db.writeAll(); err != nil {
		t.Fatal(err)
	}
}
