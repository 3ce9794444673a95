package db

import (
	"errors"
	"fmt"
	"testing"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/internal/testwait"
)

// A bank is a database with accounts, whose transactions are shared.
type bank struct {
	*testing.T
	d        *DB
	accounts []int64
}

func newBank(t *testing.T, accounts int) *bank {
	t.Helper()
	b := &bank{T: t, d: open(t, testpg.Start(t).Database(t)).Joint()}
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

// together runs functions by do, which all wait until the first can start.
func (b *bank) together(q *queue, do func(fn func(*Tx) error) error, fns ...func(*Tx) error) []error {
	b.Helper()
	release := make(chan struct{})
	began := make(chan struct{})
	ended := make(chan error)
	for range maxParallel { // one by one, so that they do not share
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
	testwait.Until(b, "all to wait", func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return len(q.waiting) >= len(fns)
	})
	close(release)
	for range maxParallel + len(fns) {
		if err := <-ended; err != nil {
			b.Error(err)
		}
	}
	return errs
}

func (b *bank) updates(fns ...func(*Tx) error) []error {
	b.Helper()
	return b.together(&b.d.engine.(*shared).updates, func(fn func(*Tx) error) error { return b.d.Update(b.Context(), fn) }, fns...)
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

// pay adds 1 to the balance of an account, and notes the new balance.
func (b *bank) pay(i int) func(*Tx) error {
	return func(tx *Tx) error {
		var a account
		if err := tx.Together(
			func() error {
				return tx.Hold("SELECT id FROM account WHERE id IN (SELECT value FROM json_each($1)) ORDER BY id /* FOR UPDATE */", b.accounts[i:i+1])
			},
			func() (err error) { a, err = accountOf(tx.View, b.accounts[i]); return err },
		); err != nil {
			return err
		}
		return tx.ExecOne(pay, a.id, 1, a.balance+1)
	}
}

func TestViewsShareATransaction(t *testing.T) {
	b := newBank(t, 20)
	var fns []func(*Tx) error
	got := make([]account, 20)
	by := make([]int64, 20)
	for i := range got {
		fns = append(fns, func(tx *Tx) (err error) {
			if by[i], err = backend(tx.View); err != nil {
				return err
			}
			if i == 7 {
				if _, err := accountOf(tx.View, 1<<40); !errors.Is(err, ErrNotFound) {
					return fmt.Errorf("an account that does not exist: %w", err)
				}
			}
			return tx.Together(
				func() (err error) { got[i], err = accountOf(tx.View, b.accounts[i]); return err },
				func() error { _, err := All(tx.View, ScanID, "SELECT count(*) FROM account"); return err },
				func() error {
					_, err := All(tx.View, ScanID, "SELECT id FROM account WHERE name IN (SELECT value /* text */ FROM json_each($1))", fmt.Sprintf(`["a", "%d"]`, i))
					return err
				},
			)
		})
	}
	for i, err := range b.together(&b.d.engine.(*shared).views, func(fn func(*Tx) error) error {
		return b.d.View(t.Context(), func(v *View) error { return fn(&Tx{v}) })
	}, fns...) {
		if err != nil || got[i].id != b.accounts[i] {
			t.Errorf("%d: got account %d, want %d; %v", i, got[i].id, b.accounts[i], err)
		}
		if by[i] != by[0] {
			t.Errorf("%d has a transaction of process %d, want %d", i, by[i], by[0])
		}
	}
}

func TestUpdatesShareATransaction(t *testing.T) {
	b := newBank(t, 20)
	var fns []func(*Tx) error
	by := make([]int64, 20)
	for i := range by {
		fns = append(fns, func(tx *Tx) (err error) {
			if by[i], err = backend(tx.View); err != nil {
				return err
			}
			return b.pay(i)(tx)
		})
	}
	for i, err := range b.updates(fns...) {
		if a := b.account(i); err != nil || a.balance != 1 || a.seen != 1 {
			t.Errorf("%d: %+v, %v", i, a, err)
		}
		if by[i] != by[0] {
			t.Errorf("%d has a transaction of process %d, want %d", i, by[i], by[0])
		}
	}
}

// The outcome of one participant does not affect the others.
func TestParticipantsAreIndependent(t *testing.T) {
	b := newBank(t, 10)
	boom := errors.New("boom")
	errs := b.updates(
		b.pay(0),
		func(tx *Tx) error { return errors.Join(b.pay(1)(tx), boom) },
		func(tx *Tx) error { _ = b.pay(2)(tx); panic("boom") },
		func(tx *Tx) error { return tx.ExecOne(payIf, b.accounts[3], 1, 1, 99) }, // not as expected
		b.pay(4), b.pay(4), b.pay(4), // of the same row
		func(tx *Tx) error { // it reads its own change
			if err := b.pay(5)(tx); err != nil {
				return err
			}
			a, err := accountOf(tx.View, b.accounts[5])
			if err == nil && a.balance != 1 {
				err = fmt.Errorf("a balance of %d after the payment", a.balance)
			}
			return err
		},
		func(tx *Tx) error { // it needs the answer to a change
			_, err := tx.Insert(addAccount, "another")
			return err
		},
		func(tx *Tx) error { return tx.Run(Change("UPDATE account SET seen = 0 WHERE seen < $1"), 0) }, // concerns many rows
		func(*Tx) error { return nil },
		b.pay(9),
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
	for i, want := range []int64{1, 0, 0, 0, 3, 1, 0, 0, 0, 1} {
		if a := b.account(i); a.balance != want || a.seen != want {
			t.Errorf("account %d: %+v, want %d", i, a, want)
		}
	}
}
