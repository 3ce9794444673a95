// Package counts returns the numbers of everything in a project. Counting takes longer the more
// work waits, and anyone may ask, so the last counts are kept for a while.
package counts

import (
	"context"
	"time"

	"github.com/starling-grid/starling/server/cache"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/unsendable"
)

// Fresh is the maximum age of counts for callers that need the present ones.
const Fresh = time.Second

// A Cache keeps the last counts of a database.
type Cache = cache.Value[Status]

// A Status has the numbers for the status page and metrics. Its JSON form is a part of the output
// of `starling-server status --json`.
type Status struct {
	store.Status
	Untaken []unsendable.Finding `json:"untaken"` // unsent results that no computer can have
}

// Take counts everything as of now.
func Take(tx *store.View, once match.Once, now time.Time) (st Status, err error) {
	if st.Status, err = tx.Status(now.Unix()); err == nil {
		st.Untaken, err = unsendable.Look(tx, once, now)
	}
	return st, err
}

// Kept returns the counts of a database, which are taken when they are asked for.
func Kept(s *store.Store, once match.Once) *Cache {
	return &Cache{Rest: 20, Find: func(ctx context.Context) (st Status, err error) {
		err = s.View(ctx, func(tx *store.View) error {
			st, err = Take(tx, once, time.Now())
			return err
		})
		return st, err
	}}
}
