package db

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/internal/testwait"
)

// A bank is a database on PostgreSQL with accounts.
type bank struct {
	*testing.T
	d        *DB
	accounts []int64
}

func newBank(t *testing.T, accounts int) *bank {
	t.Helper()
	b := &bank{T: t, d: open(t, testpg.Start(t).Database(t))}
	if err := b.d.Update(t.Context(), func(tx *Tx) error {
		b.accounts = nil
		for i := range accounts {
			id, err := tx.Insert(addAccount, fmt.Sprint("account", i))
			if err != nil {
				return err
			}
			b.accounts = append(b.accounts, id)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bank) account(i int) (a account) {
	b.Helper()
	if err := b.d.View(b.Context(), func(v *View) (err error) {
		a, err = accountOf(v, b.accounts[i])
		return err
	}); err != nil {
		b.Fatal(err)
	}
	return a
}

// backend returns the process of PostgreSQL that serves a transaction.
func backend(v *View) (int64, error) { return One(v, ScanID, "SELECT pg_backend_pid()") }

func TestViewsShareATransaction(t *testing.T) {
	b := newBank(t, 20)
	d := b.d.Joint()
	got := make([]account, 20)
	by := make([]int64, 20)
	read := func(i int) error {
		return d.View(t.Context(), func(v *View) (err error) {
			if by[i], err = backend(v); err != nil {
				return err
			}
			if i == 7 {
				if _, err := accountOf(v, 1<<40); !errors.Is(err, ErrNotFound) {
					return fmt.Errorf("an account that does not exist: %w", err)
				}
			}
			return v.Together(
				func() (err error) { got[i], err = accountOf(v, b.accounts[i]); return err },
				func() error { _, err := All(v, ScanID, "SELECT count(*) FROM account"); return err },
				func() error {
					_, err := All(v, ScanID, "SELECT id FROM account WHERE name IN (SELECT value /* text */ FROM json_each($1))", fmt.Sprintf(`["a", "%d"]`, i))
					return err
				},
			)
		})
	}
	errs := make([]error, len(got))
	var all sync.WaitGroup
	release, began := make(chan struct{}), make(chan struct{})
	for range maxParallel { // one by one, so that they do not share
		all.Go(func() {
			if err := d.View(t.Context(), func(*View) error {
				began <- struct{}{}
				<-release
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
		<-began
	}
	for i := range got {
		all.Go(func() { errs[i] = read(i) })
	}
	x := d.engine.(*shared)
	testwait.Until(t, "all to wait", func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return len(x.waiting) >= len(got)
	})
	close(release)
	all.Wait()
	for i, err := range errs {
		if err != nil || got[i].id != b.accounts[i] {
			t.Errorf("%d: got account %d, want %d; %v", i, got[i].id, b.accounts[i], err)
		}
		if by[i] != by[0] {
			t.Errorf("%d has a transaction of process %d, want %d", i, by[i], by[0])
		}
	}
}
