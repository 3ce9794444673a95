package executor

import (
	"slices"
	"sync"
)

// commands are what others want a run to do. The goroutine that owns the run carries them out: at
// first the one that starts its program, and then serve.
type commands struct {
	arrived chan struct{} // contains a value if commands may be waiting

	mu      sync.Mutex
	waiting []command // at most one of each kind
	closed  bool      // no more are carried out
}

type command struct {
	kind string
	do   func(*run)
}

// put adds a command without waiting for anything. It replaces a waiting command of the same kind.
// put returns false if the run has ended or could not be started.
func (c *commands) put(kind string, do func(*run)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(w command) bool { return w.kind == kind })
	c.waiting = append(c.waiting, command{kind, do})
	select {
	case c.arrived <- struct{}{}:
	default:
	}
	return true
}

// take removes and returns the waiting commands. With last set, no more are accepted from then on.
func (c *commands) take(last bool) []command {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.waiting
	c.waiting, c.closed = nil, c.closed || last
	return taken
}

// carryOut carries out the waiting commands. With last set, it makes sure that none is accepted
// which is not carried out.
func (r *run) carryOut(last bool) {
	for _, c := range r.commands.take(last) {
		c.do(r)
	}
}
