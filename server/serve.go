// Package server runs a volunteer-computing project: it answers requests and runs the daemons,
// which process the work.
//
// To embed a server in a program: create a project's directory with operate.Init, open it with
// project.Open, and have New(p, Part{}).Serve answer on a listener. Package servertest does so in a
// few lines.
//
// The package combines the packages below it in one process, all of them or only those for some
// roles. Package server/project defines a project on disk. Package server/operate has the
// operators' actions, also on a project that is being served. The package does not depend on how a
// volunteer's computer works, and protocol is the only package it shares with the agent.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/waiting"
)

// A Server runs a part of a project. It is safe for concurrent use.
type Server struct {
	*project.Project
	// Admin answers the operator's requests, see admin.Desk. If nil, they are not answered. It is
	// set before Serve.
	Admin net.Listener
	// Console serves the operator's pages on the same listener. If nil, there are no pages. It is
	// set before Serve.
	Console http.Handler
	// Redirect accepts plain HTTP: it redirects clients to the project's address and answers an
	// ACME service's requests for proofs. If nil, there is no such listener. It is set before
	// Serve.
	Redirect net.Listener
	// Before wraps the handler of public requests. If nil, the handler is not wrapped. It is set
	// before Serve.
	Before func(http.Handler) http.Handler
	// Reload delivers new settings while Serve runs. If nil, settings do not change. Settings that
	// need a restart are logged. It is set before Serve.
	Reload <-chan project.Config

	part     Part
	front    *front
	programs hook.Pool // validators that run on
	// The memory and disk space of requests, for all generations of settings together.
	memory, disk *limit.Bodies
	room         *waiting.Room // where idle hosts wait

	mu        sync.Mutex
	outputs   map[string]template // output templates, by file name
	apps      map[int64]store.App // as of appsStamp (nil: not read yet)
	appsStamp int64
}

// New returns a server for a part of an open project. The caller closes the project.
func New(p *project.Project, part Part) *Server {
	s := &Server{Project: p, part: part, front: newFront(part.Shard), memory: &limit.Bodies{Total: requestMemory, PerAddress: requestMemoryAddress}, disk: new(limit.Bodies), outputs: make(map[string]template)}
	s.room = s.newRoom()
	return s
}

const (
	// poll is the interval at which daemons look for work that was not announced in this process:
	// additions by operators, and deadlines.
	poll = time.Second
	// retryIn is the time that a daemon waits after an error.
	retryIn = 10 * time.Second
	// quietAfter is the time after a request with reports for which daemons make room for more.
	quietAfter = 200 * time.Millisecond
	// firstPass is the maximum time that the first requests wait for the transitioner.
	firstPass = 10 * time.Second
	// grace is the maximum time for running requests when the server stops.
	grace = 30 * time.Second
)

// window is the time in which a transfer must have moved, see limit.Pace.
var window = 30 * time.Second

// minRate is the minimum speed of a transfer, in bytes per second. Connections that are slower are of
// no use for a project's files.
const minRate = 500

// The memory for requests, in bytes, in total and for one address. A request takes it only until it
// is answered, and waits if there is not enough.
const (
	requestMemory        = 64e6
	requestMemoryAddress = 16e6
)

// RareGC makes the garbage collector of the whole process wait until the heap is five times the
// live data. A server has little live data, some ten megabytes, but allocates and frees much. GOGC
// in the environment has precedence.
func RareGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// Serve runs the part of the project until ctx ends, then lets running requests finish. It listens
// on l and closes it, as it does Admin. l is nil if the part answers no requests. Serve is called
// once. It returns project.ErrRotating while the project's code signing key is being rotated.
func (s *Server) Serve(ctx context.Context, l net.Listener) (err error) {
	defer closeListener(&err, l)
	defer closeListener(&err, s.Admin)
	defer closeListener(&err, s.Redirect)
	defer s.programs.Close()
	done, err := s.Serving()
	switch {
	case err == nil:
		defer func() { _ = done() }() // the process ends
		err = s.ReadKeys()            // they may have been rotated since the project was opened
	case !errors.Is(err, project.ErrRotating):
		s.Log.Warn("key rotate cannot detect this server", "err", err)
		err = nil
	}
	if err != nil {
		return err
	}
	unmark, check := s.mark()
	defer unmark()
	g, err := s.generation()
	if err != nil {
		return err
	}
	secure, redirect, err := s.secured()
	if err != nil {
		return err
	}
	var limited limits
	l, admin, plain := limited.add(l), limited.add(s.Admin), limited.add(s.Redirect)
	if l != nil && secure != nil {
		l = tls.NewListener(l, secure)
	}
	var public, private current
	use := func(g *generation) {
		public.set(g.public)
		private.set(g.private)
		limited.set(g.s.Config.MaxConnectionsPerAddress, g.proxies)
	}
	use(g)
	ctx, cancel := context.WithCancel(ctx)
	var sorting sync.WaitGroup
	defer sorting.Wait() // before it is noted how this ended
	defer cancel()
	sorting.Go(func() { s.sortUnsent(ctx) })
	sorting.Go(func() { s.attend(ctx) })
	if s.part.has("scheduler") {
		sorting.Go(func() { s.room.Run(ctx) })
	}
	damaged := make(chan error, 1)
	if check != nil {
		sorting.Go(func() {
			if err := check(ctx); err != nil {
				damaged <- err
			}
		})
	}
	makeWork(ctx, g.daemons)
	stop := g.start(ctx)
	defer func() { stop() }()
	failed := make(chan error, 3)
	var face http.Handler = &public
	if s.Before != nil {
		face = s.Before(face)
	}
	go func() { failed <- answer(ctx, l, face, s.Log) }()
	go func() { failed <- answer(ctx, admin, &private, s.Log) }()
	go func() { failed <- answer(ctx, plain, redirect, s.Log) }()
	s.Log.Info("serving", "project", s.Config.LongName, "master_url", s.Config.MasterURL, "listen", addr(l), "admin_listen", addr(s.Admin))
	for {
		select {
		case err = <-damaged:
			cancel()
			return errors.Join(err, <-failed, <-failed, <-failed)
		case err = <-failed:
			cancel() // one that fails takes the others with it
			err = errors.Join(err, <-failed, <-failed)
			sorting.Wait()
			select {
			case damage := <-damaged:
				err = errors.Join(damage, err)
			default:
			}
			return err
		case fresh := <-s.Reload:
			if next := g.next(fresh); next != nil {
				stop()
				g = next
				use(g)
				stop = g.start(ctx)
			}
		}
	}
}

func addr(l net.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}

// makeWork runs the transitioner once, for firstPass at most. Work that was created while no server
// ran becomes available only after that, and a client that gets no work stays away for ten minutes.
func makeWork(ctx context.Context, daemons []daemon) {
	ctx, cancel := context.WithTimeout(ctx, firstPass)
	defer cancel()
	for _, d := range daemons {
		if d.name == "transitioner" {
			_, _ = d.pass(ctx, time.Now()) // an error comes again in run, which logs it
		}
	}
}

// sortUnsent adds the data about eligible hosts to unsent work from before the database sorted work
// by it. Work that is not sorted yet is sent all the same.
func (s *Server) sortUnsent(ctx context.Context) {
	for n := 1; n > 0 && ctx.Err() == nil; {
		err := s.Store.Update(ctx, func(tx *store.Tx) (err error) {
			n, err = tx.SortUnsent(1000)
			return err
		})
		if err != nil && ctx.Err() == nil {
			s.Log.Error("unsent work is not sorted yet", "err", err, "retry_in", retryIn)
			select {
			case <-ctx.Done():
			case <-time.After(retryIn):
			}
			n = 1
		}
	}
}

// pause is the time that a daemon waits after a pass that took so long for n items, even if it has something to do.
// While requests with reports arrive, this lets work gather, because one pass for much of it costs less than many for
// little. On a busy computer passes take longer, so daemons make room for requests. If it is quiet, a pass for many
// items is followed by the next at once.
func pause(took time.Duration, n int, quiet bool) time.Duration {
	if quiet && n >= pass.Batch {
		return 0
	}
	return min(max(4*took, 10*time.Millisecond), 100*time.Millisecond)
}

// run lets a daemon work when the bell rings, with pauses, and once a poll.
func (s *Server) run(ctx context.Context, d daemon, wake *wakeup) {
	for {
		rung, began := wake.wait(), time.Now()
		n, err := d.pass(ctx, began)
		rest := poll
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.Log.Error("daemon failed", "daemon", d.name, "err", err, "retry_in", retryIn)
			rest, rung = retryIn, nil
		case n > 0:
			wake.ring() // there may be more, and others have something to do now
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause(time.Since(began), n, wake.quiet())):
		}
		select {
		case <-ctx.Done():
			return
		case <-rung:
		case <-time.After(rest):
		}
	}
}

// RunOnce runs each daemon until none has anything left to do at now. It is for tests and tools.
// Serve does the same continuously.
func (s *Server) RunOnce(ctx context.Context, now time.Time) error {
	daemons := s.daemons(nil)
	for busy := true; busy; {
		busy = false
		for _, d := range daemons {
			n, err := d.pass(ctx, now)
			if err != nil {
				return fmt.Errorf("%s: %w", d.name, err)
			}
			busy = busy || n > 0
		}
	}
	return nil
}

// A wakeup wakes all that wait for it.
type wakeup struct {
	mu       sync.Mutex
	ch       chan struct{}
	reported time.Time // the last request with reports was answered
}

func newWakeup() *wakeup { return &wakeup{ch: make(chan struct{})} }

// wait returns a channel that is closed at the next ring.
func (b *wakeup) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ch
}

func (b *wakeup) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.ch)
	b.ch = make(chan struct{})
}

// report rings for a request with reports.
func (b *wakeup) report() {
	b.ring()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reported = time.Now()
}

// quiet reports whether no request with reports was answered lately.
func (b *wakeup) quiet() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Since(b.reported) >= quietAfter
}
