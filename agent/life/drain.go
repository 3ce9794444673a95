package life

import (
	"time"

	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/decide"
)

// A drain is a person's request by starling drain. It ends with the agent.
type drain struct {
	decide.Drain
	finishes map[string]bool // keys of the results that still run
}

// Drain starts a drain of the tasks that have a process now, or ends one if the scope is "".
func (l *Life) Drain(scope decide.DrainScope, now time.Time) {
	l.drain = drain{}
	if scope == "" {
		return
	}
	l.drain = drain{decide.Drain{Scope: scope, Since: now.Round(0)}, make(map[string]bool)}
	for key, p := range l.Processes() {
		nothingToLose := p.Progress != nil && view.Lost(p.Progress) < time.Second
		if scope != decide.DrainCheckpoint || !nothingToLose {
			l.drain.finishes[key] = true
		}
	}
}

// Draining returns the drain that was asked for, and the keys of the results that it waits for.
// Callers must not modify them.
func (l *Life) Draining() (decide.Drain, map[string]bool) { return l.drain.Drain, l.drain.finishes }

// saved ends a drain's wait for a result whose work is saved, if the drain waited only for that.
func (l *Life) saved(key string) {
	if l.drain.Scope == decide.DrainCheckpoint {
		delete(l.drain.finishes, key)
	}
}
