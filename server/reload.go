package server

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/project"
)

// A generation is all that depends on settings which may change while a server runs.
type generation struct {
	s               *Server
	public, private http.Handler
	proxies         limit.Proxies
	daemons         []daemon
	wake            *wakeup
}

// generation returns the generation for the current settings.
func (s *Server) generation() (*generation, error) {
	for _, key := range s.Config.Retired {
		s.Log.Warn("a setting in server.toml no longer has an effect", "setting", key)
	}
	g := &generation{s: s, wake: newWakeup()}
	var err error
	if g.public, g.private, err = s.Handlers(g.wake.report); err != nil {
		return nil, err
	}
	if g.proxies, err = limit.ParseProxies(s.Config.Proxies()); err != nil {
		return nil, err
	}
	g.daemons = s.daemons(g.wake.ring)
	return g, nil
}

// start runs the daemons until stop is called, which waits for them.
func (g *generation) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, d := range g.daemons {
		wg.Go(func() { g.s.run(ctx, d, g.wake) })
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// next returns the generation of new settings, as far as a running server can apply them, or nil if
// nothing has changed. Its counts for limits start over.
func (g *generation) next(fresh project.Config) *generation {
	log := g.s.Log
	merged, changed, restart := g.s.Config.Reload(fresh)
	if len(restart) > 0 {
		log.Warn("settings need a restart", "keys", strings.Join(restart, " "))
	}
	if len(changed) == 0 {
		log.Info("settings read again; nothing to change")
		return nil
	}
	p := *g.s.Project
	p.Config = merged
	s := New(&p, g.s.part)
	s.front, s.memory, s.disk, s.room, s.Console = g.s.front, g.s.memory, g.s.disk, g.s.room, g.s.Console
	n, err := s.generation()
	if err != nil {
		log.Error("settings cannot be used; the previous ones stay in effect", "err", err)
		return nil
	}
	log.Info("settings changed", "keys", strings.Join(changed, " "))
	return n
}

// A current handler passes requests on to the one that was set last.
type current struct{ h atomic.Pointer[http.Handler] }

func (c *current) set(h http.Handler) { c.h.Store(&h) }

// ServeHTTP implements http.Handler.
func (c *current) ServeHTTP(w http.ResponseWriter, r *http.Request) { (*c.h.Load()).ServeHTTP(w, r) }
