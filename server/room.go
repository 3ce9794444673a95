package server

import (
	"context"
	"time"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/waiting"
)

// newRoom makes the room in which idle hosts wait for work. Each process that answers schedulers'
// requests has one, and looks for new work in the database.
func (s *Server) newRoom() *waiting.Room {
	st := s.Store
	return &waiting.Room{
		Log: s.Log.With("part", "waiting"),
		Look: func(ctx context.Context, now time.Time, after int64, limit int) (w waiting.Work, err error) {
			err = st.View(ctx, func(tx *store.View) (err error) {
				if w.Sendable, err = tx.Sendable(now, limit); err != nil {
					return err
				}
				if w.Created, err = tx.SendableAfter(now, after, limit); err != nil {
					return err
				}
				w.Newest, err = tx.NewestResult()
				return err
			})
			return w, err
		},
		Processes: func() int64 { return s.front.shard().Count },
	}
}
