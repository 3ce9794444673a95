package world

import (
	"context"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/starling-grid/starling/server/blob"
)

// A mortal context ends after it has been checked a number of times, as each transaction does at
// its start. Code under it dies between two transactions, which for a database is the same as
// within one. Its end does not wake waiting goroutines, since no seed could determine which of them
// is woken first.
type mortal struct {
	context.Context
	left *atomic.Int64
}

func dying(ctx context.Context, asked int64) context.Context {
	m := mortal{ctx, new(atomic.Int64)}
	m.left.Store(asked)
	return m
}

func (m mortal) Done() <-chan struct{} { return nil }

func (m mortal) Err() error {
	if m.left.Add(-1) < 0 {
		return context.Canceled
	}
	return m.Context.Err()
}

// disk is upload/ on a disk that is full at times and has the world's clock.
type disk struct {
	blob.Tree
	w *world
}

// change notes that a file changes, unless the disk is full.
func (d disk) change(name string) error {
	if d.w.full {
		return syscall.ENOSPC
	}
	d.w.changed[name] = time.Now()
	return nil
}

func (d disk) Put(ctx context.Context, name string, r io.Reader) (blob.Info, error) {
	if err := d.change(name); err != nil {
		return blob.Info{}, err
	}
	return d.Tree.Put(ctx, name, r)
}

func (d disk) OpenPart(name string) (blob.Part, error) {
	if err := d.change(name); err != nil {
		return nil, err
	}
	return d.Tree.OpenPart(name)
}

func (d disk) CommitPart(ctx context.Context, name string) error {
	if err := d.change(name); err != nil {
		return err
	}
	return d.Tree.CommitPart(ctx, name)
}

func (d disk) Walk(ctx context.Context, fn func(name string, modified time.Time) error) error {
	return d.Tree.Walk(ctx, func(name string, _ time.Time) error { return fn(name, d.w.changed[name]) })
}
