package session

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/starling-grid/starling/internal/words"
)

// A helper that has not reported for longer than lifetime is forgotten.
const lifetime = 90 * time.Second

// The maximum numbers of helpers.
const (
	maxHelpers = 64
	maxPerUser = 4
)

// A Person is the user of a session.
type Person struct {
	UID    int
	Name   string
	Remote bool // a session without a seat at this computer, such as a remote desktop
}

// A Roster has the connected helpers with their last reports. The zero value is empty. It may be
// used concurrently.
type Roster struct {
	mu      sync.Mutex
	helpers map[int]*helper
	last    int
}

type helper struct {
	who    Person
	source string
	input  time.Time // the last
	locked time.Time // since when the session is locked, zero if it is not
	at     time.Time // of the last report, zero before the first
}

// join makes room for a helper of a user. It does not count before its first report.
func (r *Roster) join(uid int) (id int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	same := 0
	for _, h := range r.helpers {
		if h.who.UID == uid {
			same++
		}
	}
	switch {
	case same >= maxPerUser:
		return 0, fmt.Errorf("%d helpers of user %d are connected already, the most that the agent accepts; end those that you do not need", same, uid)
	case len(r.helpers) >= maxHelpers:
		return 0, fmt.Errorf("%d helpers are connected already, the most that the agent accepts", maxHelpers)
	}
	if r.helpers == nil {
		r.helpers = make(map[int]*helper)
	}
	r.last++
	r.helpers[r.last] = &helper{who: Person{UID: uid}}
	return r.last, nil
}

func (r *Roster) leave(id int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.helpers, id)
}

// note takes a report in. A locked screen has not been used since it was locked.
func (r *Roster) note(id int, who Person, report Report, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.helpers[id]
	if h == nil {
		return
	}
	h.who, h.source, h.at = who, report.Source, now
	h.input = now.Add(-time.Duration(report.Idle * float64(time.Second)))
	switch {
	case !report.Locked:
		h.locked = time.Time{}
	case h.locked.IsZero():
		h.locked = now
	}
}

// idle returns the time for which a person has not used the session.
func (h *helper) idle(now time.Time) time.Duration {
	last := h.input
	if !h.locked.IsZero() && h.locked.Before(last) {
		last = h.locked
	}
	return max(0, now.Sub(last))
}

// living returns the helpers that count, the most recently used session first.
func (r *Roster) living(now time.Time) (all []helper) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.helpers {
		if !h.at.IsZero() && now.Sub(h.at) <= lifetime {
			all = append(all, *h)
		}
	}
	slices.SortFunc(all, func(a, b helper) int {
		return cmp.Or(cmp.Compare(a.idle(now), b.idle(now)), cmp.Compare(a.who.Name, b.who.Name), cmp.Compare(a.source, b.source))
	})
	return all
}

// Idle returns the least time without input in the sessions whose helpers report, and its source. ok is
// false if none does.
func (r *Roster) Idle(now time.Time) (idle time.Duration, by string, ok bool) {
	all := r.living(now)
	if len(all) == 0 {
		return 0, "", false
	}
	return all[0].idle(now), all[0].String(), true
}

// Lines describes each session whose helper reports.
func (r *Roster) Lines(now time.Time) (lines []string) {
	for _, h := range r.living(now) {
		lines = append(lines, h.String()+", "+ago(h.idle(now)))
	}
	return lines
}

// String describes the helper: "the helper in the session of anna (Wayland)".
func (h helper) String() string {
	text := "the helper in the session of " + h.who.Name + " (" + h.source
	if h.who.Remote {
		text += ", remote"
	}
	if !h.locked.IsZero() {
		text += ", locked"
	}
	return text + ")"
}

// ago describes a time without input, to the minute.
func ago(idle time.Duration) string {
	if idle < time.Minute {
		return "in use"
	}
	return "idle for " + words.Span(idle.Truncate(time.Minute))
}
