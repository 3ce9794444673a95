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
				a.log.Warn("the state could not be copied; computing continues", "error", err)
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
		a.log.Error("the state file was damaged and has no good copy: starting over with the accounts; projects will resend tasks", "error", r.Cause, "set_aside", r.Aside)
	default:
		a.log.Error("the state file was damaged: restored from its last good copy", "error", r.Cause, "copy", r.Copy, "set_aside", r.Aside)
	}
}
