package talk

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// Events of a project that announces new work. They are not known after a restart, until its next
// reply.
type events struct {
	offer  protocol.WorkEvents
	state  contact.Events
	woken  bool               // it announced work, and was not asked for it since
	cancel context.CancelFunc // closes the connection (nil if there is none)
	since  time.Time          // it is made
	turn   int                // number of the connection
}

// WorkAwaited is an event: a connection on which a project announces new work is over. Without an
// error it has announced some.
type WorkAwaited struct {
	Project string
	turn    int
	Err     error
}

// Event names it.
func (WorkAwaited) Event() string { return "connection for news of work over" }

// offered adopts the offer of a reply. An offer that is not repeated is withdrawn.
func (t *Talk) offered(p state.Project, offer *protocol.WorkEvents) {
	e := t.events[p.MasterURL]
	if offer == nil || !ownServer(p, offer.URL) {
		if e != nil {
			e.offer = protocol.WorkEvents{}
		}
		return
	}
	if e == nil {
		e = new(events)
		t.events[p.MasterURL] = e
	}
	e.offer = *offer
}

// ownServer reports whether a URL is of a project's own servers: it must not have others asked.
func ownServer(p state.Project, offered string) bool {
	o, err := url.Parse(offered)
	return err == nil && slices.ContainsFunc(append(p.SchedulerURLs, p.MasterURL), func(known string) bool {
		k, err := url.Parse(known)
		return err == nil && k.Scheme == o.Scheme && k.Host == o.Host && k.Host != ""
	})
}

func (e *events) hangUp() {
	if e.cancel != nil {
		e.cancel()
		e.cancel = nil
	}
}

// Listen keeps connections to the projects from which work is awaited.
func (t *Talk) Listen(d decide.Decision, now time.Time, w *core.Waker) {
	for u, e := range t.events {
		p, ok := t.DB.Projects.Get(u)
		acc, account := t.Accounts[u]
		switch {
		case !ok:
			e.hangUp()
			delete(t.events, u)
		case !account || e.offer.URL == "" || p.HostID == 0 || !d.Project(u).Await || e.woken:
			e.hangUp()
		case e.cancel != nil:
		case now.Before(e.state.NextTry):
			w.By(e.state.NextTry)
		default:
			t.listen(p, e, acc.Authenticator, now)
		}
	}
}

func (t *Talk) listen(p state.Project, e *events, key protocol.Authenticator, now time.Time) {
	ctx, cancel := context.WithCancel(t.Ctx)
	e.turn++
	e.cancel, e.since = cancel, now
	offer, turn := e.offer, e.turn
	t.Log.Debug("waiting for the project to announce new work", logflag.Key, logflag.SchedOpDebug, "project", p.MasterURL)
	go func() {
		err := t.Sched.AwaitWork(ctx, offer, p.HostID, key)
		cancel()
		t.Post(WorkAwaited{p.MasterURL, turn, err})
	}()
}

func (t *Talk) workAwaited(over WorkAwaited, now time.Time) {
	e := t.events[over.Project]
	if e == nil || e.turn != over.turn || e.cancel == nil {
		return // it was given up
	}
	e.cancel = nil
	lasted := now.Sub(e.since)
	if over.Err == nil {
		e.state, e.woken = e.state.Told(now, lasted, t.Rand), true
		t.Log.Info("the project has new work", logflag.Key, logflag.SchedOps, "project", over.Project)
		return
	}
	e.state = e.state.Ended(now, lasted, t.Rand)
	t.Log.Debug("the connection for news of work is over", logflag.Key, logflag.SchedOpDebug, "project", over.Project, "again", e.state.NextTry, "err", over.Err)
}

// Woken returns the projects that have announced new work.
func (t *Talk) Woken() map[string]bool {
	woken := make(map[string]bool)
	for u, e := range t.events {
		if e.woken {
			woken[u] = true
		}
	}
	return woken
}

// wakened reports whether a project announced work, and is being asked for it now.
func (t *Talk) wakened(project string) bool {
	e := t.events[project]
	if e == nil || !e.woken {
		return false
	}
	e.woken = false
	return true
}
