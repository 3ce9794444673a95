package db

import (
	"errors"
	"net/url"
	"slices"
	"testing"

	"github.com/starling-grid/starling/internal/testpg"
)

// A process that has the names of all servers of a database follows the primary, and never uses one that
// was replaced, whether it was running during the change or starts afterwards.
func TestAReplacedPrimaryIsRefused(t *testing.T) {
	first := testpg.Start(t)
	name := databaseName(t, first.Database(t))
	second := first.Standby(t)
	both := testpg.URLOf(name, first, second)
	running := open(t, both)
	add(t, running, "before")
	first.Execute(t, `ALTER SYSTEM SET synchronous_standby_names = '*'`, `SELECT pg_reload_conf()`)
	add(t, running, "on both")
	first.CaughtUp(t)

	if _, err := Open(t.Context(), withoutAttributes(t, testpg.URLOf(name, second)), testSchema); !errors.Is(err, ErrStandby) {
		t.Errorf("a standby alone: %v, want %v", err, ErrStandby)
	}

	first.Do(t, "stop -m immediate") // as if it were killed
	second.Do(t, "promote")
	add(t, running, "on the second")

	first.Do(t, "start") // without the other, as after a repair
	first.Execute(t, `ALTER SYSTEM RESET synchronous_standby_names`, `SELECT pg_reload_conf()`)
	want := []string{"before", "on both", "on the second"}
	for which, d := range map[string]*DB{"the running process": running, "one that starts now": open(t, both)} {
		for range 20 { // more than it keeps connections
			if got := names(t, d); !slices.Equal(got, want) {
				t.Fatalf("%s sees %v, want %v", which, got, want)
			}
		}
	}
	second.Do(t, "stop -m immediate")
	err := running.View(t.Context(), func(v *View) error { _, err := One(v, ScanID, "SELECT 1"); return err })
	if !errors.Is(err, ErrReplaced) {
		t.Errorf("with only the replaced one left: %v, want %v", err, ErrReplaced)
	}
}

// The account of a database does not need special rights.
func TestAnOrdinaryRoleOwnsADatabase(t *testing.T) {
	pg := testpg.Start(t)
	name := databaseName(t, pg.Database(t))
	pg.Execute(t, `CREATE ROLE grid LOGIN NOSUPERUSER`, `ALTER DATABASE `+name+` OWNER TO grid`)
	u, err := url.Parse(testpg.URLOf(name, pg))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("user", "grid")
	u.RawQuery = q.Encode()
	add(t, open(t, u.String()), "app")
}

func add(t *testing.T, d *DB, name string) {
	t.Helper()
	if err := d.Update(t.Context(), func(tx *Tx) error { return tx.Add(addAccount, name) }); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, d *DB) (list []string) {
	t.Helper()
	err := d.View(t.Context(), func(v *View) (err error) {
		list, err = All(v, ScanString, "SELECT name FROM account ORDER BY id")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func databaseName(t *testing.T, where string) string {
	t.Helper()
	u, err := url.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	return u.Path[1:]
}

func withoutAttributes(t *testing.T, where string) string {
	t.Helper()
	u, err := url.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Del("target_session_attrs")
	u.RawQuery = q.Encode()
	return u.String()
}
