// Package pass has the common parts of the daemons: each goes through the pending rows, stores its
// decisions without one row delaying others, and puts off the rows that fail.
//
// Each loads a batch in a View, so that deciding and everything slow happens outside of
// transactions. Save stores the decisions, and its function looks again, because the row may have
// changed meanwhile. The daemons define the decisions and the changes.
package pass

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
)

const (
	// Batch is the number of rows loaded at a time.
	Batch = 100
	// past is the time after the planned retry in which it takes place, or the work has gone.
	past = 10 * time.Minute
	// mostError is the maximum length of an error for the operator, in bytes.
	mostError = 500
)

// Each calls handle with the items that load makes of the pending rows, batch by batch, and returns
// the sum of the values of handle. load returns the ID of the last row that it saw above after, or
// 0 at the end. It may leave rows out.
func Each[T any](ctx context.Context, st *store.Store, load func(tx *store.View, after int64) (items []T, last int64, err error), handle func(items []T) (int, error)) (done int, err error) {
	for after := int64(0); ; {
		var items []T
		err := st.View(ctx, func(tx *store.View) (err error) {
			items, after, err = load(tx, after)
			return err
		})
		if err != nil || after == 0 {
			return done, err
		}
		n, err := handle(items)
		done += n
		if err != nil {
			return done, err
		}
	}
}

// Ahead returns the same sequence, but its next item is made while the present one is handled, in a goroutine
// that ends before the loop over the sequence does.
func Ahead[T any](items iter.Seq2[T, error]) iter.Seq2[T, error] {
	type item struct {
		value T
		err   error
	}
	return func(yield func(T, error) bool) {
		made, stop := make(chan item), make(chan struct{})
		go func() {
			defer close(made)
			for value, err := range items {
				select {
				case made <- item{value, err}:
				case <-stop:
					return
				}
			}
		}()
		defer func() {
			close(stop)
			for range made { // until the goroutine has ended
			}
		}()
		for i := range made {
			if !yield(i.value, i.err) {
				return
			}
		}
	}
}

// Jobs loads the workunits of a queue with their results, except for those that are put off.
func Jobs(tx *store.View, queue store.Queue, after int64, off *Off, now time.Time) (jobs []store.Job, last int64, err error) {
	ids, err := tx.Waiting(queue, after, Batch)
	if err != nil || len(ids) == 0 {
		return nil, 0, err
	}
	last = ids[len(ids)-1]
	ids = slices.DeleteFunc(ids, func(id int64) bool { return !off.Due(id, now) })
	all, err := tx.Jobs(ids)
	for _, id := range ids {
		jobs = append(jobs, all[id])
	}
	return jobs, last, err
}

// Save calls save with all items in one transaction. If that fails, each gets its own, so that one
// does not delay others, and failed is called for those that fail then. An error that it returns
// ends the pass. A database that cannot be reached or written ends the pass without
// blaming an item, and an item whose rows are busy is left to the next pass. Save returns the
// number of items that were stored.
func Save[T any](ctx context.Context, st *store.Store, items []T, save func(tx *store.Tx, items []T) error, failed func(item T, err error) error) (int, error) {
	err := st.Update(ctx, func(tx *store.Tx) error { return save(tx, items) })
	switch {
	case err == nil:
		return len(items), nil
	case OfDatabase(err):
		return 0, err
	}
	n := 0
	for i, item := range items {
		if ctx.Err() != nil {
			return n, err // it may have failed for that reason alone
		}
		switch err = st.Update(ctx, func(tx *store.Tx) error { return save(tx, items[i:i+1]) }); {
		case err == nil:
			n++
		case OfDatabase(err):
			return n, err
		case errors.Is(err, store.ErrBusy):
		case ctx.Err() == nil:
			if err := failed(item, err); err != nil {
				return n, err
			}
		}
	}
	if ctx.Err() != nil {
		return n, err
	}
	return n, nil
}

// OfDatabase reports whether an error is that the database cannot be reached or written, was closed or has no
// room: no item is to be blamed for it or put off, and the pass ends.
func OfDatabase(err error) bool {
	return slices.ContainsFunc([]error{store.ErrUnreachable, store.ErrFull, store.ErrUnwritten, store.ErrDisk, store.ErrClosed}, func(x error) bool {
		return errors.Is(err, x)
	})
}

// Clock returns a clock for a pass that begins at now and whose programs may take minutes. It moves
// by whole minutes.
func Clock(now time.Time) func() time.Time {
	begin := time.Now()
	return func() time.Time { return now.Add(time.Since(begin).Truncate(time.Minute)) }
}

// Off has the items that are put off because they failed, by ID. It is kept in memory: a restart
// forgets it. Its zero value is ready. It is for one goroutine.
type Off struct {
	waits map[int64]wait
	well  map[int64]bool // applications of which an item was done
}

type wait struct {
	until time.Time
	delay time.Duration
	app   int64
	err   string
}

// Due reports whether an id is not put off, or not any more. If the clock was set back meanwhile, it waits no
// longer for that.
func (o *Off) Due(id int64, now time.Time) bool {
	left := o.waits[id].until.Sub(now)
	return left <= 0 || left > o.waits[id].delay
}

// Failed puts an id of an application off for its error, for first and each further time for twice as
// long, at most for most, and returns for how long.
func (o *Off) Failed(id, app int64, err error, now time.Time, first, most time.Duration) time.Duration {
	if o.waits == nil {
		o.waits = make(map[int64]wait)
	}
	delay := min(max(first, 2*o.waits[id].delay), most)
	o.waits[id] = wait{now.Add(delay), delay, app, bxml.Printable(err.Error(), mostError)}
	return delay
}

// Hung puts the ID of an application off for a minute if an error of its program is a time-out. The
// program may hang for each of its rows, and in that minute other applications have their turn.
func (o *Off) Hung(app int64, err error, now time.Time) {
	if errors.Is(err, hook.ErrTimeout) {
		o.Failed(app, app, err, now, time.Minute, time.Minute)
	}
}

// forget removes the items that were not tried again when they were due: they have gone.
func (o *Off) forget(now time.Time) {
	maps.DeleteFunc(o.waits, func(_ int64, w wait) bool { return now.Sub(w.until) > past })
}

// Done forgets an id of an application.
func (o *Off) Done(id, app int64) {
	if o.well == nil {
		o.well = make(map[int64]bool)
	}
	o.well[app] = true
	delete(o.waits, id)
}
