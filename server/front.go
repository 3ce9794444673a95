package server

import (
	"context"
	"crypto/rand"
	"sync/atomic"
	"time"

	"github.com/starling-grid/starling/server/store"
)

const (
	// attendEvery is the interval at which a process records that it answers requests.
	attendEvery = 2 * time.Second
	// absentAfter is the time after its last record when a process no longer counts.
	absentAfter = 30 * time.Second
)

// A front is this process among all that answer schedulers' requests on one database. Each looks
// for work in its own part of the work first, because it costs both time if two processes want to
// send the same result.
type front struct {
	name  string
	fixed store.Shard // set by the operator
	found atomic.Pointer[store.Shard]
}

func newFront(said store.Shard) *front { return &front{name: rand.Text(), fixed: said} }

// shard returns the part of the work that this process looks at first.
func (f *front) shard() store.Shard {
	if found := f.found.Load(); found != nil {
		return *found
	}
	return f.fixed
}

// attend keeps the number of this process among all such processes up to date until ctx ends,
// unless the operator has set it.
func (s *Server) attend(ctx context.Context) {
	if s.front.fixed.Count > 1 || !s.part.has("scheduler") || !store.IsURL(s.Config.Database) {
		return // on SQLite only one process writes at a time, and none in vain
	}
	for ctx.Err() == nil {
		now := time.Now()
		var found store.Shard
		err := s.Store.Update(ctx, func(tx *store.Tx) (err error) {
			found, err = tx.Attend(s.front.name, now, now.Add(-absentAfter))
			return err
		})
		switch {
		case err == nil:
			s.front.found.Store(&found)
		case ctx.Err() == nil:
			s.Log.Warn("the database cannot list the other processes that answer requests", "err", err, "retry_in", attendEvery)
		}
		select {
		case <-ctx.Done():
		case <-time.After(attendEvery):
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attendEvery)
	defer cancel()
	_ = s.Store.Update(ctx, func(tx *store.Tx) error { return tx.Leave(s.front.name) }) // else it is forgotten soon
}
