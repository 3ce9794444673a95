// Package statetest opens the agent's durable state in tests of the agent's parts.
package statetest

import (
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/state"
)

// Open opens the state in a data directory until the test ends.
func Open(t testing.TB, dir string) *state.DB {
	t.Helper()
	db, err := state.Open(filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Update makes a change, which must succeed.
func Update(t testing.TB, db *state.DB, fn func(*state.Tx)) {
	t.Helper()
	if err := db.Update(fn); err != nil {
		t.Fatal(err)
	}
}
