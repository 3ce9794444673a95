package store

import (
	"context"
	"io/fs"
	"path"
	"testing"
	"testing/fstest"

	"github.com/starling-grid/starling/server/db"
)

// MigrateTo makes a database with the migrations up to a number, such as 018, which is at least
// 005.
func MigrateTo(ctx context.Context, where, number string) error {
	early := make(fstest.MapFS)
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	for _, name := range names {
		if path.Base(name)[:3] > number {
			break
		}
		text, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		early[name] = &fstest.MapFile{Data: text}
	}
	none := func() []string { return nil }
	d, err := db.Open(ctx, where, db.Schema{
		Migrations: early, SQLiteTriggers: none, PostgresTriggers: none, TriggerTable: schema.TriggerTable,
	})
	if err != nil {
		return err
	}
	return d.Close()
}

// Exec runs any SQL within a transaction.
func Exec(tx *Tx, query string) error {
	_, err := tx.exec(query)
	return err
}

// OpenFor opens a database until the end of a test.
func OpenFor(t *testing.T, where string) *Store {
	t.Helper()
	s, err := Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
