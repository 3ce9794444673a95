// Package counts says how much there is of everything in a project. To count reads whole
// tables, and anyone may ask: what was counted is remembered for a while.
package counts

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/untaken"
)

// Fresh is how old counts may be where the present is asked for.
const Fresh = time.Second

// rest bounds what counting takes: for each time that it took, nobody makes it begin again
// for rest times as long.
const rest = 20

// A Cache keeps the last counts of a database. It is safe for concurrent use.
type Cache struct {
	Store *store.Store
	Once  untaken.Once

	counting singleflight.Group

	mu     sync.Mutex
	taken  time.Time
	took   time.Duration
	status Status
}

// A Status is what the status page and metrics tell. Its JSON form is a part of what
// `starling-server status --json` prints.
type Status struct {
	store.Status
	Untaken []untaken.Finding `json:"untaken"` // unsent results that no computer can have
}

// Take counts everything as of now. It reads whole tables.
func Take(tx *store.View, once untaken.Once, now time.Time) (st Status, err error) {
	if st.Status, err = tx.Status(now.Unix()); err == nil {
		st.Untaken, err = untaken.Look(tx, once, now)
	}
	return st, err
}

// last returns the last counts, if they are not older than age or were dear.
func (c *Cache) last(age time.Duration) (Status, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	since := time.Since(c.taken)
	return c.status, since >= 0 && since < max(age, rest*c.took)
}

// Get returns how much there is of everything, as it was at most age ago, or when it
// was last counted if that takes long.
func (c *Cache) Get(ctx context.Context, age time.Duration) (Status, error) {
	if st, ok := c.last(age); ok {
		return st, nil
	}
	counted := <-c.count(ctx)
	st, _ := counted.Val.(Status)
	return st, counted.Err
}

// Soon is Get for who cannot wait longer than for some time: it returns older counts then, and
// false if there are none.
func (c *Cache) Soon(ctx context.Context, age, wait time.Duration) (Status, bool) {
	if st, ok := c.last(age); ok {
		return st, true
	}
	select {
	case <-c.count(ctx):
	case <-time.After(wait):
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status, !c.taken.IsZero()
}

// count counts, once for all who wait for it at a time.
func (c *Cache) count(ctx context.Context) <-chan singleflight.Result {
	return c.counting.DoChan("", func() (any, error) {
		begin := time.Now()
		var st Status
		err := c.Store.View(context.WithoutCancel(ctx), func(tx *store.View) (err error) {
			st, err = Take(tx, c.Once, begin)
			return err
		})
		if err != nil {
			return st, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.taken, c.took, c.status = begin, time.Since(begin), st
		return st, nil
	})
}
