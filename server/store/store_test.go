package store_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

func TestSQLite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (*store.Store, *sql.DB) {
		path := filepath.Join(t.TempDir(), "a b", "..", "project.db")
		return open(t, path, "sqlite", "file:"+filepath.ToSlash(filepath.Clean(path))+"?_pragma=busy_timeout(60000)")
	})
}

func TestPostgres(t *testing.T) {
	pg := testpg.Start(t)
	storetest.Run(t, func(t *testing.T) (*store.Store, *sql.DB) {
		url := pg.Database(t)
		return open(t, url, "pgx", url)
	})
}

func view(t *testing.T, s *store.Store, fn func(*store.View) error) {
	t.Helper()
	must(t, s.View(t.Context(), fn))
}

func update(t *testing.T, s *store.Store, fn func(*store.Tx) error) {
	t.Helper()
	must(t, s.Update(t.Context(), fn))
}

func open(t *testing.T, where, driver, name string) (*store.Store, *sql.DB) {
	t.Helper()
	s := store.OpenFor(t, where)
	raw, err := sql.Open(driver, name)
	must(t, err)
	t.Cleanup(func() { _ = raw.Close() })
	return s, raw
}

// Operators add work from another process while the server runs.
func TestTwoProcessesShareADatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "project.db")
	a, b := store.OpenFor(t, path), store.OpenFor(t, path)
	w := storetest.Fill(t, a)
	storetest.Add(t, b, w.Workunit("x"), 1)
	view(t, a, func(tx *store.View) error {
		_, err := tx.WorkunitByName("x")
		return err
	})
}

// Views that all hold a connection while each needs another one to prepare its
// first statement would wait for each other for ever.
func TestManyFirstViewsAtOnce(t *testing.T) {
	s := store.OpenFor(t, filepath.Join(t.TempDir(), "project.db"))
	const n = 32
	done := make(chan error, n)
	for range n {
		go func() {
			done <- s.View(t.Context(), func(tx *store.View) error {
				_, err := tx.WorkunitByName("x")
				if _, again := tx.Workunits([]int64{1}); again != nil || !errors.Is(err, store.ErrNotFound) {
					return errors.Join(err, again)
				}
				return nil
			})
		}()
	}
	for range n {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A change that meets others each time is given up in the end, and may be tried again.
func TestPostgresGivesUpWhatMeetsOthersEachTime(t *testing.T) {
	s, _ := open(t, testpg.Start(t).Database(t), "pgx", "")
	w := storetest.Fill(t, s)
	earn := func(tx *store.Tx) error { return tx.AddHostCredit(w.Host.ID, 1, 0, storetest.T0, 0) }
	tries := 0
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		tries++
		if _, err := tx.Host(w.Host.ID); err != nil {
			return err
		}
		if err := s.Update(t.Context(), earn); err != nil { // another process
			return err
		}
		return earn(tx)
	})
	if !errors.Is(err, store.ErrBusy) || tries < 2 {
		t.Errorf("after %d tries: %v, want ErrBusy", tries, err)
	}
	if h := storetest.Get(t, s, (*store.View).Host, w.Host.ID); h.TotalCredit != float64(tries) {
		t.Errorf("credit %v, want the credit of the %d others", h.TotalCredit, tries)
	}
}

// A conflict that shows only at the commit lets the transaction run again.
func TestPostgresMeetsAnotherAtTheCommit(t *testing.T) {
	s, _ := open(t, testpg.Start(t).Database(t), "pgx", "")
	w := storetest.Fill(t, s)
	earn := func(tx *store.Tx) error { return tx.AddHostCredit(w.Host.ID, 1, 0, storetest.T0, 0) }
	tries := 0
	var h store.Host
	err := s.Update(t.Context(), func(tx *store.Tx) (err error) {
		if h, err = tx.Host(w.Host.ID); err != nil {
			return err
		}
		if tries++; tries == 1 {
			if err := s.Update(t.Context(), earn); err != nil { // another process
				return err
			}
		}
		return earn(tx)
	})
	if err != nil || tries != 2 || h.TotalCredit != 1 {
		t.Errorf("after %d tries: %v, it saw %v; want success at the second, which sees what the other left", tries, err, h.TotalCredit)
	}
}

// Rows to change are reserved for the transaction that asked for them. A transaction runs again if
// the rows have changed since it first read them.
func TestPostgresKeepsRowsToChange(t *testing.T) {
	s, _ := open(t, testpg.Start(t).Database(t), "pgx", "")
	w := storetest.Fill(t, s)
	tries := 0
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		if tries++; tries == 1 {
			if _, err := tx.Host(w.Host.ID); err != nil { // fixes the state that the transaction sees
				return err
			}
			earn := func(tx *store.Tx) error { return tx.AddHostCredit(w.Host.ID, 1, 0, storetest.T0, 0) }
			if err := s.Update(t.Context(), earn); err != nil { // another process
				return err
			}
		}
		hosts, err := tx.HostsToChange([]int64{w.Host.ID})
		if err == nil && hosts[w.Host.ID].TotalCredit != 1 {
			t.Errorf("got %+v, want the credit that the other added", hosts[w.Host.ID])
		}
		return err
	})
	if err != nil || tries != 2 {
		t.Errorf("after %d tries: %v, want success at the second", tries, err)
	}
}

var must = testerr.Must
