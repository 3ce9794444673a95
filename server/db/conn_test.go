package db

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func testConn(t *testing.T) *conn {
	t.Helper()
	d := open(t, "")
	if err := d.Update(t.Context(), func(*Tx) error { return nil }); err != nil { // it opens the connection
		t.Fatal(err)
	}
	return d.engine.(*sqliteFile).conn
}

func TestArgumentsByNumber(t *testing.T) {
	var got string
	err := testConn(t).query(t.Context(), "SELECT $2 || $1 || $2", []any{"a", "b"}, func(r Rows) (err error) {
		got, err = ScanString(r)
		return err
	})
	if err != nil || got != "bab" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := testConn(t).query(t.Context(), "SELECT $2", []any{"a"}, nil); err == nil {
		t.Error("a parameter without an argument was taken")
	}
}

// A value of another type than the variable into which it is read is an error, and never 0 or "".
func TestScanRefusesOtherTypes(t *testing.T) {
	c := testConn(t)
	type named string
	for query, into := range map[string]any{
		"SELECT NULL AS x": new(string), "SELECT 'a' AS x": new(int64), "SELECT 1.5 AS x": new(int), "SELECT 1 AS x": new(named), "SELECT x'00' AS x": new(float64),
	} {
		err := c.query(t.Context(), query, nil, func(r Rows) error { return r.Scan(into) })
		if err == nil || !strings.Contains(err.Error(), "column x") {
			t.Errorf("%s into %T: %v", query, into, err)
		}
	}
	var n int
	var word named
	var f float64
	err := c.query(t.Context(), "SELECT 7, 'a', 3", nil, func(r Rows) error { return r.Scan(&n, &word, &f) })
	if err != nil || n != 7 || word != "a" || f != 3 {
		t.Errorf("got %d, %q, %v, %v", n, word, f, err)
	}
}

// A view ends in the middle of its query when its context ends, and its connection serves others.
func TestViewEndsWithItsContext(t *testing.T) {
	d := open(t, "")
	gone := errors.New("gone")
	for range 20 {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Millisecond, gone)
		err := d.View(ctx, func(tx *View) error {
			_, err := One(tx, ScanID, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c")
			return err
		})
		cancel()
		if !errors.Is(err, gone) {
			t.Fatalf("got %v", err)
		}
		if err := d.View(t.Context(), func(tx *View) error { _, err := One(tx, ScanID, "SELECT 1"); return err }); err != nil {
			t.Fatal(err)
		}
	}
}
