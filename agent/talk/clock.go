package talk

import (
	"time"

	"github.com/starling-grid/starling/internal/boottime"
)

// A serverTime is the time by a project's server at a moment of a clock that cannot be set. So it
// remains known when this computer's clock is set.
type serverTime struct {
	time time.Time
	at   boottime.Time
}

// dated remembers the server's time in an answer that just came. A server that does not name it is
// taken to agree with this computer.
func (t *Talk) dated(project string, date, now time.Time) {
	if date.IsZero() {
		date = now
	}
	at, _ := boottime.Now()
	was := t.Ahead(now)[project]
	t.times[project] = serverTime{date, at}
	if ahead := now.Round(0).Sub(date); ahead.Abs() >= clockSlack && was == 0 {
		t.Log.Warn("this computer's clock differs from the server's; deadlines are converted to this computer's time", "project", project, "ahead", ahead.Round(time.Second))
	}
}

// clockSlack is the least difference between two clocks that is considered. Smaller ones do not
// harm, and would change the deadlines by a little all the time.
const clockSlack = 5 * time.Minute

// ahead returns how much later it is by this computer's clock.
func (s serverTime) ahead(now time.Time) time.Duration {
	at, _ := boottime.Now()
	return now.Round(0).Sub(s.time.Add(at.Sub(s.at)))
}

// Ahead returns, for each project whose server has answered since the agent's start, how much later
// it is by this computer's clock than by the server's. Differences that do not matter are 0.
func (t *Talk) Ahead(now time.Time) map[string]time.Duration {
	all := make(map[string]time.Duration, len(t.times))
	for u, s := range t.times {
		ahead := s.ahead(now).Round(time.Minute)
		if ahead.Abs() < clockSlack {
			ahead = 0
		}
		all[u] = ahead
	}
	return all
}
