package agent

import (
	"fmt"
	"strings"
	"time"
)

// keepState makes copies of the state: at the start, every hour, and when a project
// gives this computer another id, which nobody else knows.
func (a *Agent) keepState(now time.Time, w *waker) {
	var list strings.Builder
	for u, p := range a.db.Projects.All() {
		fmt.Fprintln(&list, u, p.HostID)
	}
	ids := list.String()
	if due := a.kept.at.Add(keepEvery); now.Before(due) && !now.Before(a.kept.at) && ids == a.kept.ids || a.kept.busy {
		w.by(due)
		return
	}
	a.kept.at, a.kept.ids, a.kept.busy = now, ids, true
	keep := a.db.Keeper()
	go func() {
		err := keep()
		a.post(func() {
			a.kept.busy = false
			if err != nil {
				a.log.Warn("no copy of the state could be made; computing goes on", "error", err)
			}
		})
	}()
}

// keepEvery is how old the copy of the state may be.
const keepEvery = time.Hour

// A keeping is what is known of the copy of the state.
type keeping struct {
	at   time.Time
	ids  string
	busy bool
}

// tellRepair tells what was done about a damaged state file.
func (a *Agent) tellRepair() {
	r := a.db.Repaired
	switch {
	case r == nil:
	case r.Copy.IsZero():
		a.log.Error("the state was damaged, and there is no good copy: the agent starts anew with its accounts; servers send its tasks again", "error", r.Cause, "set_aside", r.Aside)
	default:
		a.log.Error("the state was damaged and is now as it was at its last copy", "error", r.Cause, "copy", r.Copy, "set_aside", r.Aside)
	}
}
