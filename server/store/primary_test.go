package store_test

import (
	"errors"
	"net/url"
	"slices"
	"testing"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/server/store"
)

// A process that knows all servers of a database follows the primary, and never takes one that was
// replaced for it, whether it was running during the change or starts afterwards.
func TestAReplacedPrimaryIsRefused(t *testing.T) {
	first := testpg.Start(t)
	name := databaseName(t, first.Database(t))
	second := first.Standby(t)
	both := testpg.URLOf(name, first, second)
	running := openStore(t, both)
	addApp(t, running, "before")
	first.Execute(t, `ALTER SYSTEM SET synchronous_standby_names = '*'`, `SELECT pg_reload_conf()`)
	addApp(t, running, "on both")
	first.CaughtUp(t)

	if _, err := store.Open(t.Context(), withoutAttributes(t, testpg.URLOf(name, second))); !errors.Is(err, store.ErrStandby) {
		t.Errorf("a standby alone: %v, want %v", err, store.ErrStandby)
	}

	first.Do(t, "stop -m immediate") // as if it were killed
	second.Do(t, "promote")
	addApp(t, running, "on the second")

	first.Do(t, "start") // without the other, as after a repair
	first.Execute(t, `ALTER SYSTEM RESET synchronous_standby_names`, `SELECT pg_reload_conf()`)
	want := []string{"before", "on both", "on the second"}
	for which, s := range map[string]*store.Store{"the running process": running, "one that starts now": openStore(t, both)} {
		for range 20 { // more than it keeps connections
			if got := appNames(t, s); !slices.Equal(got, want) {
				t.Fatalf("%s sees %v, want %v", which, got, want)
			}
		}
	}
	second.Do(t, "stop -m immediate")
	err := running.View(t.Context(), func(tx *store.View) error { _, err := tx.Apps(); return err })
	if !errors.Is(err, store.ErrReplaced) {
		t.Errorf("with only the replaced one left: %v, want %v", err, store.ErrReplaced)
	}
}

// The account of a database needs no special rights.
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
	addApp(t, openStore(t, u.String()), "app")
}

func openStore(t *testing.T, where string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func addApp(t *testing.T, s *store.Store, name string) {
	t.Helper()
	err := s.Update(t.Context(), func(tx *store.Tx) error { _, err := tx.InsertApp(store.App{Name: name, Weight: 1}); return err })
	if err != nil {
		t.Fatal(err)
	}
}

func appNames(t *testing.T, s *store.Store) (names []string) {
	t.Helper()
	err := s.View(t.Context(), func(tx *store.View) error {
		names = nil
		apps, err := tx.Apps()
		for _, a := range apps {
			names = append(names, a.Name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
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
