package db

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/internal/testwait"
)

// Transactions that PostgreSQL does not answer have an end: some time after their caller has left, or after the
// database is closed. Here they wait for a lock.
func TestAnswersThatDoNotCome(t *testing.T) {
	t.Parallel()
	where := testpg.Start(t).Database(t)
	d, other := open(t, where), open(t, where)
	pg := other.engine.(*postgres)
	pg.grace = time.Millisecond
	locked, unlock := make(chan bool), make(chan bool)
	holder := make(chan error, 1)
	go func() {
		holder <- d.Update(t.Context(), func(tx *Tx) error {
			_, err := tx.Exec("LOCK TABLE account")
			locked <- true
			<-unlock
			return err
		})
	}()
	<-locked
	waiting := func(n int64) {
		t.Helper()
		testwait.Until(t, "transactions to wait", func() (all bool) {
			err := d.View(t.Context(), func(v *View) error {
				got, err := All(v, ScanID, "SELECT count(*) FROM pg_locks WHERE NOT granted")
				all = err == nil && got[0] == n
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return all
		})
	}
	change := func(tx *Tx) error { return tx.Add(addAccount, "x") }
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- other.Update(ctx, change) }()
	waiting(1)
	leave()
	if err := <-ended; !errors.Is(err, ErrUnreachable) {
		t.Errorf("after the caller had left: %v", err)
	}
	waiting(0)

	go func() { ended <- other.Update(t.Context(), change) }()
	go func() {
		ended <- other.View(context.WithoutCancel(t.Context()), func(v *View) error {
			return v.Query("SELECT name FROM account", nil, func(Rows) error { return nil })
		})
	}()
	go func() {
		c := Collect()
		ended <- errors.Join(c.Run(addAccount, "y"), other.Apply(t.Context(), c))
	}()
	waiting(3)
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	for range 3 {
		if err := <-ended; err == nil {
			t.Error("a transaction succeeded without an answer")
		}
	}
	close(unlock)
	if err := <-holder; err != nil {
		t.Error(err)
	}
	if got := names(t, d); len(got) != 0 {
		t.Errorf("accounts %v were added", got)
	}
}

// A server that does not answer when a command opens its database is named once, with the remedy.
func TestAwayAtTheStart(t *testing.T) {
	for _, address := range []string{"127.0.0.1:1", "localhost:1"} {
		url := "postgres://someone:secret@" + address + "/starling"
		_, opened := Open(t.Context(), url, testSchema)
		_, inspected := Inspect(t.Context(), url, testSchema)
		for _, err := range []error{opened, inspected} {
			if text := fmt.Sprint(err); !errors.Is(err, ErrUnreachable) || strings.Count(text, ":1:") != 1 || !strings.Contains(text, "start PostgreSQL, or correct its address in --db or server.toml") || strings.Contains(text, "secret") {
				t.Errorf("%s: %v", address, err)
			}
			if !Unreachable(err) {
				t.Errorf("%s: serve does not wait for it: %v", address, err)
			}
		}
	}
}
