package scheduler

import (
	"log/slog"
	"sync"
	"time"
)

// tallyEvery is the interval between log lines with the number of requests. Each answered request
// has its own line at level debug only, since a project has thousands a minute.
const tallyEvery = 10 * time.Minute

// A tally counts requests between two lines of the log. It is safe for concurrent use.
type tally struct {
	mu                                          sync.Mutex
	since                                       time.Time
	requests, refused, reported, accepted, sent int
}

// add counts a request, and logs the counts if they are due.
func (t *tally) add(log *slog.Logger, now time.Time, refused bool, reported, accepted, sent int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.since.IsZero() {
		t.since = now
	}
	t.requests++
	if refused {
		t.refused++
	}
	t.reported, t.accepted, t.sent = t.reported+reported, t.accepted+accepted, t.sent+sent
	if passed := now.Sub(t.since); passed >= tallyEvery {
		log.Info("scheduler requests", "requests", t.requests, "refused", t.refused, "reported", t.reported, "accepted", t.accepted,
			"sent", t.sent, "minutes", int(passed.Minutes()))
		t.since, t.requests, t.refused, t.reported, t.accepted, t.sent = now, 0, 0, 0, 0, 0
	}
}
