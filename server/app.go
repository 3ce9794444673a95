package server

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/trickler"
	"github.com/starling-grid/starling/server/validator"
)

// app returns an application. All of them are kept in memory until one changes.
func (s *Server) app(ctx context.Context, id int64) (store.App, error) {
	var app store.App
	err := s.Store.View(ctx, func(tx *store.View) error {
		stamp, err := tx.AppsStamp()
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.apps == nil || s.appsStamp != stamp {
			list, err := tx.Apps()
			if err != nil {
				return err
			}
			s.apps, s.appsStamp = make(map[int64]store.App, len(list)), stamp
			for _, a := range list {
				s.apps[a.ID] = a
			}
		}
		var there bool
		if app, there = s.apps[id]; !there {
			return store.ErrNotFound
		}
		return nil
	})
	if err != nil {
		return store.App{}, fmt.Errorf("app %d: %w", id, err)
	}
	return app, nil
}

func (s *Server) checker(ctx context.Context, appID int64) (validator.Checker, error) {
	app, err := s.app(ctx, appID)
	if err != nil {
		return nil, err
	}
	return validator.New(app.Validator, validator.Env{Dir: s.Dir, App: app.Name, Files: s.Upload, Pool: &s.programs})
}

// creditPolicy returns how an application rewards results.
func (s *Server) creditPolicy(ctx context.Context, appID int64) (credit.Policy, error) {
	app, err := s.app(ctx, appID)
	if err != nil {
		return credit.Policy{}, err
	}
	return credit.Parse(app.Credit)
}

func (s *Server) assimilation(ctx context.Context, appID int64) (assimilator.Handler, error) {
	app, err := s.app(ctx, appID)
	if err != nil {
		return nil, err
	}
	return assimilator.New(app.Assimilator, assimilator.Env{
		Dir: s.Dir, Results: filepath.Join(s.Dir, project.ResultsDir), Divided: s.Config.ResultsFolders, App: app.Name, Files: s.Upload,
	})
}

func (s *Server) trickle(ctx context.Context, appID int64) (trickler.Handler, error) {
	app, err := s.app(ctx, appID)
	if err != nil {
		return nil, err
	}
	return trickler.New(app.Trickle, s.Dir, app.Name)
}
