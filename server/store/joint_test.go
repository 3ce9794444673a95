package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/internal/testwait"
)

// jointWorld is a database with hosts, on which transactions share.
type jointWorld struct {
	*testing.T
	s     *Store
	user  int64
	hosts []int64
}

func newJointWorld(t *testing.T, hosts int) *jointWorld {
	t.Helper()
	s, err := Open(t.Context(), testpg.Start(t).Database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	w := &jointWorld{T: t, s: s.Joint()}
	if err := s.Update(t.Context(), func(tx *Tx) error {
		var err error
		if w.user, err = tx.InsertUser(User{Name: "a", EmailAddr: "a@example.org", Authenticator: "0123456789abcdef0123456789abcdef"}); err != nil {
			return err
		}
		for range hosts {
			id, err := tx.InsertHost(Host{UserID: w.user, CreateTime: time.Unix(1, 0)})
			if err != nil {
				return err
			}
			w.hosts = append(w.hosts, id)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return w
}

// together runs functions by do, all of them waiting until the first can begin.
func (w *jointWorld) together(l *lobby, do func(fn func(*Tx) error) error, fns ...func(*Tx) error) []error {
	w.Helper()
	release := make(chan struct{})
	began := make(chan struct{})
	ended := make(chan error)
	for range sideBySide { // one by one, lest they share
		go func() {
			ended <- do(func(*Tx) error {
				began <- struct{}{}
				<-release
				return nil
			})
		}()
		<-began
	}
	errs := make([]error, len(fns))
	for i, fn := range fns {
		go func() {
			errs[i] = do(fn)
			ended <- nil
		}()
	}
	testwait.Until(w, "all to wait", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.waiting) >= len(fns)
	})
	close(release)
	for range sideBySide + len(fns) {
		if err := <-ended; err != nil {
			w.Error(err)
		}
	}
	return errs
}

func (w *jointWorld) updates(fns ...func(*Tx) error) []error {
	w.Helper()
	return w.together(&w.s.db.(*joint).updates, func(fn func(*Tx) error) error { return w.s.Update(w.Context(), fn) }, fns...)
}

func (w *jointWorld) host(i int) (h Host) {
	w.Helper()
	if err := w.s.View(w.Context(), func(tx *View) (err error) {
		h, err = tx.Host(w.hosts[i])
		return err
	}); err != nil {
		w.Fatal(err)
	}
	return h
}

// backend is the process of PostgreSQL that serves a transaction.
func backend(tx *View) (int64, error) { return one(tx, scanID, "SELECT pg_backend_pid()") }

// earn adds to the credit of a host, and to its average what that was.
func (w *jointWorld) earn(i int) func(*Tx) error {
	return func(tx *Tx) error {
		var h Host
		if err := tx.Together(
			func() error { return tx.HoldHost(w.hosts[i]) },
			func() (err error) { h, err = tx.Host(w.hosts[i]); return err },
		); err != nil {
			return err
		}
		return tx.AddHostCredit(h.ID, 1, h.ExpavgCredit+1, time.Unix(2, 0), 0)
	}
}

func TestViewsShareATransaction(t *testing.T) {
	w := newJointWorld(t, 20)
	var fns []func(*Tx) error
	got := make([]Host, 20)
	by := make([]int64, 20)
	for i := range got {
		fns = append(fns, func(tx *Tx) (err error) {
			if by[i], err = backend(tx.View); err != nil {
				return err
			}
			if i == 7 {
				if _, err := tx.Host(1 << 40); !errors.Is(err, ErrNotFound) {
					return fmt.Errorf("a host that is not there: %w", err)
				}
			}
			return tx.Together(
				func() (err error) { got[i], err = tx.Host(w.hosts[i]); return err },
				func() error { _, err := tx.HostAppVersions(w.hosts[i]); return err },
				func() error { _, err := tx.ResultsByName([]string{"a", fmt.Sprint(i)}); return err },
			)
		})
	}
	for i, err := range w.together(&w.s.db.(*joint).views, func(fn func(*Tx) error) error {
		return w.s.View(t.Context(), func(v *View) error { return fn(&Tx{View: v}) })
	}, fns...) {
		if err != nil || got[i].ID != w.hosts[i] {
			t.Errorf("%d: got host %d, want %d; %v", i, got[i].ID, w.hosts[i], err)
		}
		if by[i] != by[0] {
			t.Errorf("%d does not share: process %d, not %d", i, by[i], by[0])
		}
	}
}

func TestUpdatesShareATransaction(t *testing.T) {
	w := newJointWorld(t, 20)
	var fns []func(*Tx) error
	by := make([]int64, 20)
	for i := range by {
		fns = append(fns, func(tx *Tx) (err error) {
			if by[i], err = backend(tx.View); err != nil {
				return err
			}
			return w.earn(i)(tx)
		})
	}
	for i, err := range w.updates(fns...) {
		if h := w.host(i); err != nil || h.TotalCredit != 1 || h.ExpavgCredit != 1 {
			t.Errorf("%d: credit %v, average %v, %v", i, h.TotalCredit, h.ExpavgCredit, err)
		}
		if by[i] != by[0] {
			t.Errorf("%d does not share: process %d, not %d", i, by[i], by[0])
		}
	}
}

// What becomes of one is nothing to the others.
func TestWhoSharesATransactionIsByThemselves(t *testing.T) {
	w := newJointWorld(t, 10)
	boom := errors.New("boom")
	stale := w.host(3)
	stale.RPCSeqno = 99
	errs := w.updates(
		w.earn(0),
		func(tx *Tx) error { return errors.Join(w.earn(1)(tx), boom) },
		func(tx *Tx) error { _ = w.earn(2)(tx); panic("boom") },
		func(tx *Tx) error { return tx.UpdateHost(stale, stale) },
		w.earn(4), w.earn(4), w.earn(4), // of the same row
		func(tx *Tx) error { // it has to see what it did
			if err := w.earn(5)(tx); err != nil {
				return err
			}
			h, err := tx.Host(w.hosts[5])
			if err == nil && h.TotalCredit != 1 {
				err = fmt.Errorf("credit %v after it was granted", h.TotalCredit)
			}
			return err
		},
		func(tx *Tx) error { // it needs the answer to a change
			_, err := tx.InsertHost(Host{UserID: w.user, CreateTime: time.Unix(1, 0)})
			return err
		},
		func(tx *Tx) error { return tx.NewDay(w.hosts[7]) }, // concerns many rows
		func(*Tx) error { return nil },
		w.earn(9),
	)
	for i, err := range errs {
		switch i {
		case 1:
			if !errors.Is(err, boom) {
				t.Errorf("%d: %v, want %v", i, err, boom)
			}
		case 2:
			if err == nil {
				t.Errorf("%d: no error", i)
			}
		case 3:
			if !errors.Is(err, ErrLost) {
				t.Errorf("%d: %v, want ErrLost", i, err)
			}
		default:
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
		}
	}
	for i, want := range []float64{1, 0, 0, 0, 3, 1, 0, 0, 0, 1} {
		if h := w.host(i); h.TotalCredit != want || h.ExpavgCredit != want {
			t.Errorf("host %d: credit %v, average %v; want %v", i, h.TotalCredit, h.ExpavgCredit, want)
		}
	}
}
