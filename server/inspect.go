package server

import (
	"context"
	"errors"
	"time"

	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// mark records that the project is served. unmark records its end. check does the checks that are
// due, while the project is served, if the last server did not end in order. It is nil if none are
// due.
func (s *Server) mark() (unmark func(), check func(ctx context.Context) error) {
	m, err := s.Mark()
	if err != nil {
		s.Log.Warn("the database is not checked", "err", err)
		return func() {}, nil
	}
	if m.Others && len(s.part.Roles) == 0 && s.part.Shard == (store.Shard{}) {
		s.Log.Warn("another server of this project is running: with --roles or --shard they would divide the work, but so both give each workunit to the programs that validate and assimilate it")
	}
	unmark = func() {
		if err := m.End(); err != nil {
			s.Log.Warn("the database will be checked at the next start", "err", err)
		}
	}
	switch {
	case !m.Unclean:
		return unmark, nil
	case store.IsURL(s.Config.Database): // PostgreSQL checks itself
		s.found(m)
		return unmark, nil
	}
	report, done, err := s.StartCheck() // before the first request is answered
	if err != nil {
		s.Log.Warn("status cannot show the progress of the check of the database", "err", err)
		report, done = func(project.Check) error { return nil }, func() error { return nil }
	}
	progress := project.Check{Since: time.Now()}
	s.note(report(progress))
	return unmark, func(ctx context.Context) error {
		s.Log.Info("the last server did not end in order: the database is checked while this one serves")
		err := s.Store.CheckTables(ctx, func(table string, done, all int) error {
			progress.Table, progress.Done, progress.All = table, done, all
			s.note(report(progress))
			return nil
		})
		s.note(done())
		switch {
		case err == nil:
			s.found(m)
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

// found records that the database is whole.
func (s *Server) found(m *project.Mark) {
	if err := m.Checked(); err != nil {
		s.Log.Warn("the database will be checked at the next start", "err", err)
	}
}

func (s *Server) note(err error) {
	if err != nil {
		s.Log.Warn("status cannot show the progress of the check of the database", "err", err)
	}
}
