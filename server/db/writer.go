package db

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// maxGroup is the maximum number of changes that share one commit.
const maxGroup = 128

// A writer runs all changes of this process, one after the other, on one
// connection. Changes that wait at the same time share a transaction, so that they share the
// cost of making it durable. A caller gets its answer only when that commit is on disk.
type writer struct {
	open func() (*conn, error)
	conn *conn // from open, at the first change
	jobs chan job
	quit chan struct{}
	done chan struct{}
	once sync.Once
}

type job struct {
	fn   func(*Tx) error
	done chan error
}

func startWriter(open func() (*conn, error)) *writer {
	w := &writer{open: open, jobs: make(chan job), quit: make(chan struct{}), done: make(chan struct{})}
	go w.run()
	return w
}

func (w *writer) close() (err error) {
	w.once.Do(func() {
		close(w.quit)
		<-w.done
		if w.conn != nil {
			err = w.conn.Close()
		}
	})
	<-w.done
	return err
}

func (w *writer) update(ctx context.Context, fn func(tx *Tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx) // select would choose at random
	}
	j := job{fn: fn, done: make(chan error, 1)}
	select {
	case w.jobs <- j:
		return <-j.done
	case <-w.quit:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *writer) apply(ctx context.Context, list []change) error {
	return w.update(ctx, func(tx *Tx) error { return tx.repeat(list) })
}

func (w *writer) run() {
	defer close(w.done)
	for {
		select {
		case j := <-w.jobs:
			w.group(j)
		case <-w.quit:
			return
		}
	}
}

// group runs j and other waiting jobs in one transaction.
func (w *writer) group(j job) {
	if w.conn == nil {
		c, err := w.open()
		if err != nil {
			j.done <- err
			return
		}
		w.conn = c
	}
	// A cancelled statement would make SQLite roll the whole group back, so no
	// caller's context reaches the connection.
	tx := newTx(context.Background(), w.conn)
	if _, err := tx.Exec("BEGIN IMMEDIATE"); err != nil {
		j.done <- fmt.Errorf("start a transaction: %w", err)
		return
	}
	// If the first fails, the transaction ends without further changes. A savepoint for it would cost a
	// copy of each page that it changes.
	if err := protect(tx, j.fn); err != nil {
		_, _ = tx.Exec("ROLLBACK")
		j.done <- err
		return
	}
	committing := []job{j}
	finish := func(err error) {
		for _, j := range committing {
			j.done <- err
		}
	}
	for range maxGroup - 1 {
		select {
		case j = <-w.jobs:
		default:
			finish(w.commit(tx))
			return
		}
		switch failed, broken := w.attempt(tx, j.fn); {
		case broken != nil:
			_, _ = tx.Exec("ROLLBACK")
			j.done <- errors.Join(failed, broken)
			finish(broken)
			return
		case failed != nil:
			j.done <- failed
		default:
			committing = append(committing, j)
		}
	}
	finish(w.commit(tx))
}

func (w *writer) commit(tx *Tx) error {
	if _, err := tx.Exec("COMMIT"); err != nil {
		_, _ = tx.Exec("ROLLBACK")
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// attempt runs fn within a savepoint. failed is fn's error, whose changes
// are undone. broken means that the whole transaction is lost.
func (w *writer) attempt(tx *Tx, fn func(*Tx) error) (failed, broken error) {
	if _, err := tx.Exec("SAVEPOINT one"); err != nil {
		return nil, err
	}
	if failed = protect(tx, fn); failed != nil {
		if _, err := tx.Exec("ROLLBACK TO one"); err != nil {
			return failed, err
		}
	}
	_, broken = tx.Exec("RELEASE one")
	return failed, broken
}

// protect turns a panic of one caller's fn into that caller's error, so that the other
// callers of the group and the rest of the server continue.
func protect(tx *Tx, fn func(*Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a transaction: %v\n%s", p, debug.Stack())
		}
	}()
	return fn(tx)
}
