package agent

import (
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/core"
)

// keepState makes copies of the state: at the start, every hour, and when a project gives this
// computer another id, which exists nowhere else.
func (a *Agent) keepState(now time.Time, w *core.Waker) {
	var list strings.Builder
	for u, p := range a.core.DB.Projects.All() {
		fmt.Fprintln(&list, u, p.HostID)
	}
	ids := list.String()
	if due := a.kept.at.Add(keepEvery); now.Before(due) && !now.Before(a.kept.at) && ids == a.kept.ids || a.kept.busy {
		w.By(due)
		return
	}
	a.kept.at, a.kept.ids, a.kept.busy = now, ids, true
	keep := a.core.DB.Keeper()
	go func() { a.core.Post(stateCopied{keep()}) }()
}

// keepEvery is the maximum age of the copy of the state.
const keepEvery = time.Hour

// A keeping describes the copy of the state.
type keeping struct {
	at   time.Time
	ids  string
	busy bool
}

// tellRepair logs how a damaged state file was repaired.
func (a *Agent) tellRepair() {
	r := a.core.DB.Repaired
	switch {
	case r == nil:
	case r.Copy.IsZero():
		a.core.Log.Error("the state file was damaged and has no good copy; starting over with the accounts, and the projects will resend tasks", "err", r.Cause, "set_aside", r.Aside)
	default:
		a.core.Log.Error("the state file was damaged; restored it from the last good copy", "err", r.Cause, "copy", r.Copy, "set_aside", r.Aside)
	}
}

// stateCopied is an event: a copy of the state was made, or not.
type stateCopied struct{ err error }

// Event names it.
func (stateCopied) Event() string { return "state backed up" }

func (a *Agent) copied(e stateCopied) {
	a.kept.busy = false
	if e.err != nil {
		a.core.Log.Warn("cannot back up the state; computing continues", "err", e.err)
	}
}
