package usage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/state"
)

// A clock for timelines: 00:00 and so many seconds.
func at(seconds int) time.Time {
	return time.Date(2026, 5, 4, 0, 0, seconds, 0, time.UTC)
}

var (
	computing = Doing{Activity: state.Computing}
	waiting   = Doing{Activity: state.Waiting}
	battery   = Doing{state.Suspended, "on_battery", "The computer is running on battery power."}
	busy      = Doing{state.Suspended, "cpu_busy", "Other programs are using 30% of the CPUs."}
)

// newTimeline returns the timeline of an agent that starts with an existing state.
func newTimeline(up *Uptime, start int) *Timeline {
	t := &Timeline{Core: up.Core}
	t.Open(at(start))
	return t
}

// expect compares the spans, the oldest first, as activity, code and seconds.
func expect(t *testing.T, up *Uptime, want string) {
	t.Helper()
	var all []string
	if err := up.DB.Spans(0, func(_ uint64, s state.Span) bool {
		end := fmt.Sprint(s.End.Sub(at(0)).Seconds())
		if s.Open {
			end = ""
		}
		what := string(s.Activity)
		if s.Code != "" {
			what += " " + s.Code
		}
		all = append([]string{fmt.Sprintf("%s %v-%s", what, s.Start.Sub(at(0)).Seconds(), end)}, all...)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(all, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func seen(up *Uptime, seconds int) {
	up.Save(func(tx *state.Tx) { up.DB.Hosts.Put(tx, state.Self, state.Host{LastSeen: at(seconds)}) })
}

func TestTheTimelineJoinsWhatIsTheSame(t *testing.T) {
	up := clocked(t)
	line := newTimeline(up, 0)
	for s := 0; s < 600; s += 20 {
		line.Count(at(s), computing)
	}
	for s := 600; s < 1200; s += 20 {
		line.Count(at(s), battery)
	}
	for s := 1200; s <= 1320; s += 20 {
		line.Count(at(s), busy) // another reason is another span
	}
	expect(t, up, "computing 0-600, suspended on_battery 600-1200, suspended cpu_busy 1200-")
	for s := 1320; s <= 1400; s += 20 {
		line.Count(at(s), computing) // from the middle of a minute on
	}
	expect(t, up, "computing 0-600, suspended on_battery 600-1200, suspended cpu_busy 1200-1320, computing 1320-")
	line.Close(at(1430))
	expect(t, up, "computing 0-600, suspended on_battery 600-1200, suspended cpu_busy 1200-1320, computing 1320-1430")
}

// The start and the end of an activity are exact, wherever in a minute they are.
func TestTheEdgesOfTheTimeline(t *testing.T) {
	for edge := 600; edge <= 660; edge++ {
		up := clocked(t)
		line := newTimeline(up, 0)
		for s := 0; s < edge; s += 7 {
			line.Count(at(s), computing)
		}
		for s := edge; s < 1200; s += 7 {
			line.Count(at(s), battery)
		}
		expect(t, up, fmt.Sprintf("computing 0-%d, suspended on_battery %[1]d-", edge))
	}
}

// Activities shorter than a minute count as the main one of that minute, so that the timeline of a
// computer whose CPU is busy again and again stays short.
func TestTheTimelineDoesNotFlutter(t *testing.T) {
	up := clocked(t)
	line := newTimeline(up, 0)
	for s := 0; s < 86400; s += 10 {
		doing := computing
		if s%60 >= 40 {
			doing = busy
		}
		line.Count(at(s), doing)
	}
	expect(t, up, "computing 0-")
}

// After a kill the time until the agent was last seen is not taken for time off, nor the
// other way round.
func TestAKillEndsTheSpanWhereTheAgentWasLastSeen(t *testing.T) {
	up := clocked(t)
	line := newTimeline(up, 0)
	line.Count(at(0), computing)
	line.Count(at(60), computing)
	line.Count(at(3600), computing)
	seen(up, 3580)
	line = newTimeline(up, 9000)
	line.Count(at(9000), waiting)
	line.Count(at(9060), waiting)
	expect(t, up, "computing 0-3580, off killed 3580-9000, waiting 9000-")
	seen(up, 5) // older than the span: nothing is certain
	newTimeline(up, 9300)
	expect(t, up, "computing 0-3580, off killed 3580-9000, waiting 9000-9000, off killed 9000-9300")
}

func TestTimeOffBetweenTwoAgents(t *testing.T) {
	up := clocked(t)
	line := newTimeline(up, 0)
	line.Count(at(0), computing)
	line.Close(at(300))
	line = newTimeline(up, 310) // it was restarted
	line.Count(at(310), computing)
	line.Count(at(400), computing)
	expect(t, up, "computing 0-")
	line.Close(at(500))
	newTimeline(up, 1000) // and was killed at once
	newTimeline(up, 2000) // again
	line = newTimeline(up, 3000)
	line.Count(at(3000), computing)
	line.Close(at(3030)) // less than a minute, and yet
	expect(t, up, "computing 0-500, off stopped 500-3000, computing 3000-3030")
}

// A computer that was asleep was off. Waking for a moment makes no difference. (The clock of a test
// cannot sleep, so the test calls the function for that directly.)
func TestSleepCountsAsOff(t *testing.T) {
	up := clocked(t)
	line := newTimeline(up, 0)
	line.Count(at(0), computing)
	line.Count(at(600), computing)
	line.slept(at(4000))
	line.last = at(4000)
	line.Count(at(4005), computing)
	line.slept(at(8000))
	line.last = at(8000)
	line.Count(at(8000), computing)
	line.Count(at(8100), computing)
	expect(t, up, "computing 0-600, off asleep 600-8000, computing 8000-")
}
