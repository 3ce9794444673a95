package server

import (
	"context"
	"errors"
	"time"

	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// mark notes that the project is served, and returns what notes its end. check is what has to be
// done beside serving after a server that did not end in order; nil: nothing.
func (s *Server) mark() (unmark func(), check func(ctx context.Context) error) {
	unclean, done, err := s.Mark()
	if err != nil {
		s.Log.Warn("the database is not checked", "err", err)
		return func() {}, nil
	}
	whole := !unclean || store.IsURL(s.Config.Database)
	unmark = func() {
		if err := done(whole); err != nil {
			s.Log.Warn("the database will be checked at the next start", "err", err)
		}
	}
	if whole {
		return unmark, nil
	}
	progress := project.Check{Since: time.Now()}
	s.note(&progress) // before the first request is answered
	return unmark, func(ctx context.Context) error {
		s.Log.Info("the last server did not end in order: the database is checked while this one serves")
		err := s.Store.CheckTables(ctx, func(table string, done, all int) error {
			progress.Table, progress.Done, progress.All = table, done, all
			s.note(&progress)
			return nil
		})
		s.note(nil)
		switch {
		case err == nil:
			whole = true
			s.Log.Info("the database is whole", "took", time.Since(progress.Since).Round(time.Second))
		case ctx.Err() == nil && !errors.Is(err, store.ErrDamaged):
			s.Log.Warn("the database could not be checked", "err", err)
		}
		if errors.Is(err, store.ErrDamaged) {
			return err
		}
		return nil
	}
}

func (s *Server) note(c *project.Check) {
	if err := s.SetCheck(c); err != nil {
		s.Log.Warn("status cannot show how far the check of the database is", "err", err)
	}
}
