package db

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// A refused database stays as it was, and the error is the refusal.
func TestOpenIf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	refusal := errors.New("no")
	refuse := func(want Found) func(Found) error {
		return func(f Found) error {
			if f != want {
				t.Errorf("found %+v, want %+v", f, want)
			}
			return refusal
		}
	}
	if _, err := OpenIf(t.Context(), path, testSchema, refuse(Found{Empty: true})); err != refusal { //nolint:errorlint // not wrapped
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file was made")
	}
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	newer := testSchema
	migrations := maps.Clone(testSchema.Migrations.(fstest.MapFS))
	migrations["migrations/002_more.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE more (x INTEGER) STRICT;")}
	newer.Migrations = migrations
	if _, err := OpenIf(t.Context(), path, newer, refuse(Found{Version: 1})); err != refusal { //nolint:errorlint // not wrapped
		t.Errorf("an older one: got %v", err)
	}
	if f, err := Inspect(t.Context(), path, newer); err != nil || f.Version != 1 {
		t.Errorf("after the refusal: %+v, %v", f, err)
	}
	d, err := Open(t.Context(), path, newer)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if f, err := Inspect(t.Context(), path, newer); err != nil || f.Version != 2 {
		t.Errorf("after it was opened: %+v, %v", f, err)
	}
}

// A file gets the log and the triggers that it lacks, as a copy by VACUUM INTO lacks the log.
func TestAFileIsMadeCurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.ExecContext(t.Context(), "PRAGMA journal_mode = DELETE"); err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	guarded := testSchema
	guarded.SQLiteTriggers = func() []string {
		return []string{"CREATE TRIGGER debts BEFORE UPDATE ON account WHEN NEW.balance < 0 BEGIN SELECT RAISE(ABORT, 'a debt'); END"}
	}
	for _, s := range []Schema{testSchema, guarded, guarded} {
		d, err := Open(t.Context(), path, s)
		if err != nil {
			t.Fatal(err)
		}
		var mode string
		var there bool
		err = d.engine.view(t.Context(), func(tx *Tx) (err error) {
			c := tx.View.q.(*conn)
			if there, err = c.trigger(t.Context(), "debts"); err != nil {
				return err
			}
			return c.query(context.WithoutCancel(t.Context()), "PRAGMA journal_mode", nil, func(r Rows) error { return r.Scan(&mode) })
		})
		if want := len(s.SQLiteTriggers()) > 0; err != nil || mode != "wal" || there != want {
			t.Errorf("journal %q, trigger %v, want %v; %v", mode, there, want, err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The connection that was used last is used next.
func TestReadersAreReused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	open(t, path)
	r, err := openReaders(path, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}()
	var first, second *conn
	r.with(func(c *conn) {
		first = c
		r.with(func(c *conn) { second = c })
	})
	r.with(func(c *conn) {
		if c != first || c == second {
			t.Error("another connection")
		}
	})
}
