package core

import (
	"context"
	"time"

	"github.com/starling-grid/starling/internal/words"
)

// An Event is something that has happened outside of the loop, which takes it in: each
// is a type of the component whose it is.
type Event interface {
	// Event returns a short description of the event.
	Event() string
}

// ErrStopping is the answer of an agent that ends.
var ErrStopping = words.Refuse(words.T("the agent is stopping"))

// Asked is an event: someone asked for something.
type Asked struct {
	do   func() error
	done chan error
}

// Event names it.
func (Asked) Event() string { return "asked" }

// Answer carries out the request.
func (e Asked) Answer() { e.done <- e.do() }

// Post sends an event to the loop. After the loop has ended it is dropped. The next start finds its
// content again.
func (c *Core) Post(e Event) {
	select {
	case c.events <- e:
	case <-c.Ctx.Done():
	}
}

// Events returns the posted events, for the loop.
func (c *Core) Events() <-chan Event { return c.events }

// Looks returns the functions to run between two steps of the loop.
func (c *Core) Looks() <-chan func() { return c.looks }

// Do runs f in the loop and waits for it.
func (c *Core) Do(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	return through(ctx, c, c.events, Event(Asked{f, done}), done)
}

// See lets show look at the agent, as of one instant between two steps of the loop. It must change
// nothing.
func (c *Core) See(ctx context.Context, show func()) error {
	done := make(chan error, 1)
	return through(ctx, c, c.looks, func() {
		show()
		done <- nil
	}, done)
}

func through[E any](ctx context.Context, c *Core, loop chan<- E, e E, done <-chan error) error {
	select {
	case loop <- e:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.Ctx.Done():
		return ErrStopping
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-c.Ctx.Done():
		return ErrStopping
	}
}

// A Waker finds the earliest of several times.
type Waker struct{ At time.Time }

// By makes the loop look again at t, if not earlier.
func (w *Waker) By(t time.Time) {
	if t.Before(w.At) {
		w.At = t
	}
}
