package store

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func testConn(t *testing.T) *conn {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "project.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.db.(*sqliteFile).writer.conn
}

func TestArgumentsByNumber(t *testing.T) {
	var got string
	err := testConn(t).query(t.Context(), "SELECT $2 || $1 || $2", []any{"a", "b"}, func(r rows) (err error) {
		got, err = scanString(r)
		return err
	})
	if err != nil || got != "bab" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := testConn(t).query(t.Context(), "SELECT $2", []any{"a"}, nil); err == nil {
		t.Error("a parameter without an argument was taken")
	}
}

// What is not of the type that it is read into is an error, and never 0 or "".
func TestScanRefusesOtherTypes(t *testing.T) {
	c := testConn(t)
	type named string
	for query, into := range map[string]any{
		"SELECT NULL AS x": new(string), "SELECT 'a' AS x": new(int64), "SELECT 1.5 AS x": new(int), "SELECT 1 AS x": new(named), "SELECT x'00' AS x": new(float64),
	} {
		err := c.query(t.Context(), query, nil, func(r rows) error { return r.Scan(into) })
		if err == nil || !strings.Contains(err.Error(), "column x") {
			t.Errorf("%s into %T: %v", query, into, err)
		}
	}
	var n int
	var word named
	var f float64
	err := c.query(t.Context(), "SELECT 7, 'a', 3", nil, func(r rows) error { return r.Scan(&n, &word, &f) })
	if err != nil || n != 7 || word != "a" || f != 3 {
		t.Errorf("got %d, %q, %v, %v", n, word, f, err)
	}
}

// A look whose caller is gone ends amid its query, and its connection serves others.
func TestLookEndsWithItsCaller(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "project.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	gone := errors.New("gone")
	for range 20 {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Millisecond, gone)
		err := s.View(ctx, func(tx *View) error {
			_, err := one(tx, scanID, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c")
			return err
		})
		cancel()
		if !errors.Is(err, gone) {
			t.Fatalf("got %v", err)
		}
		if err := s.View(t.Context(), func(tx *View) error { _, err := tx.Identity(); return err }); err != nil {
			t.Fatal(err)
		}
	}
}
