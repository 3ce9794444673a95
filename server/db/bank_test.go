package db

import (
	"fmt"
	"testing"

	"github.com/starling-grid/starling/internal/testpg"
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
