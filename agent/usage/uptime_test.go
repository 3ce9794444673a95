package usage

import (
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/internal/boottime"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// clocked measures times for an agent with a state and nothing else.
func clocked(t *testing.T) *Uptime {
	t.Helper()
	db := statetest.Open(t, t.TempDir())
	return &Uptime{Core: &core.Core{DB: db, Log: slog.New(slog.DiscardHandler)}}
}

func TestAveragesForgetByHalfInTheirHalfLife(t *testing.T) {
	if got := average(1, 0, fractionHalfLife); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("got %v", got)
	}
	frac := 0.0
	for range 24 * 60 { // two months of a computer that is on for eight hours a day
		frac = average(average(frac, 1, 20*time.Minute), 0, 40*time.Minute)
	}
	if math.Abs(frac-1.0/3) > 0.01 {
		t.Errorf("a third of the time came out as %v", frac)
	}
}

// While no agent runs the computer counts as off.
func TestTimeWithoutAnAgentCountsAsOff(t *testing.T) {
	up := clocked(t)
	now := time.Now()
	up.Save(func(tx *state.Tx) {
		up.DB.Hosts.Put(tx, state.Self, state.Host{LastSeen: now.Add(-fractionHalfLife), Times: state.Times{On: 1, Active: 1, Connected: 1}})
	})
	up.Open(now)
	if got := up.times; math.Abs(got.On-0.5) > 0.01 || got.Active != 1 {
		t.Errorf("got %+v", got)
	}
}

// Sleep is time without computing. Setting the clock is not, and does not change waits.
func TestSleepIsToldFromAClockThatIsSet(t *testing.T) {
	const long = fractionHalfLife
	for _, tt := range []struct {
		name    string
		passage passage
		on      float64
		shifted time.Duration
	}{
		{"awake", passage{time.Minute, time.Minute, time.Minute}, 1, 0},
		{"asleep", passage{time.Minute, long, long}, 0.5, 0},
		{"set ahead", passage{time.Minute, time.Minute, long}, 1, long - time.Minute},
		{"set back", passage{time.Minute, time.Minute, -long}, 1, -long - time.Minute},
		{"set back during sleep", passage{time.Minute, long, long - time.Hour}, 0.5, -time.Hour},
	} {
		up, now := clocked(t), time.Now()
		wait := now.Add(time.Hour)
		up.Save(func(tx *state.Tx) { up.DB.Results.Put(tx, state.Key("u", "r"), state.Result{NotBefore: wait}) })
		up.Open(now)
		up.clockSet(tt.passage.set(), now)
		up.count(now, tt.passage)
		r, _ := up.DB.Results.Get(state.Key("u", "r"))
		if got := r.NotBefore.Sub(wait.Round(0)); got != tt.shifted {
			t.Errorf("%s: the wait changed by %v, want %v", tt.name, got, tt.shifted)
		}
		if math.Abs(up.times.On-tt.on) > 0.01 {
			t.Errorf("%s: on for %v of the time, want %v", tt.name, up.times.On, tt.on)
		}
	}
	last := time.Now().Round(0)
	if got := passed(last, last.Add(time.Hour), 0, boottime.Time(time.Minute), false); got.all != time.Hour {
		t.Errorf("a system that cannot tell: got %+v", got)
	}
}

// A clock that is set back does not make waits longer than they were meant to be:
// a clock that was a year ahead must not keep a project from being asked for a
// year.
func TestAClockSetBackKeepsWaitsAsLongAsTheyWere(t *testing.T) {
	up := clocked(t)
	wrong := time.Now().AddDate(1, 0, 0)
	up.Save(func(tx *state.Tx) {
		p := state.Project{MasterURL: "u"}
		p.Contact.MinRPCTime, p.Fetch.NextTry, p.Ending.At = wrong.Add(time.Hour), wrong.Add(2*time.Hour), wrong.Add(5*time.Hour)
		up.DB.Projects.Put(tx, "u", p)
		up.DB.Results.Put(tx, state.Key("u", "r"), state.Result{NotBefore: wrong.Add(3 * time.Hour), AbortAt: wrong.Add(6 * time.Hour)})
		up.DB.Files.Put(tx, state.Key("u", "f"), state.File{Retry: state.Retry{NextTry: wrong.Add(4 * time.Hour)}})
		up.DB.Managers.Put(tx, state.Self, state.Manager{Retry: state.Retry{NextTry: wrong.Add(7 * time.Hour)}})
		up.DB.Hosts.Put(tx, state.Self, state.Host{LastSeen: wrong, RunMode: prefs.Mode{Kind: prefs.Never, Until: wrong.Add(8 * time.Hour)}})
	})
	right := wrong.AddDate(-1, 0, 0)
	for range 2 { // the second agent starts after the first was killed, and changes nothing more
		up.Open(right)
		p, _ := up.DB.Projects.Get("u")
		r, _ := up.DB.Results.Get(state.Key("u", "r"))
		f, _ := up.DB.Files.Get(state.Key("u", "f"))
		m, _ := up.DB.Managers.Get(state.Self)
		h, _ := up.DB.Hosts.Get(state.Self)
		for i, at := range []time.Time{p.Contact.MinRPCTime, p.Fetch.NextTry, r.NotBefore, f.NextTry, p.Ending.At, r.AbortAt, m.NextTry, h.RunMode.Until} {
			if got, want := at.Sub(right).Round(time.Second), time.Duration(i+1)*time.Hour; got != want {
				t.Errorf("wait %d: %v left, want %v", i, got, want)
			}
		}
	}
}

// If the state cannot be saved when the clock is set, the waits are changed as soon as it can, with
// the time when the agent was last seen.
func TestWaitsOfAClockThatIsSetAreChangedLater(t *testing.T) {
	t.Parallel()
	up, now := clocked(t), time.Now()
	key, wait := state.Key("u", "r"), now.Add(time.Hour)
	statetest.Update(t, up.DB, func(tx *state.Tx) {
		up.DB.Hosts.Put(tx, state.Self, state.Host{LastSeen: now})
		up.DB.Results.Put(tx, key, state.Result{AbortAt: wait})
	})
	up.Open(now)
	up.SaveAgain = now.Add(time.Minute) // saving has just failed
	up.clockSet(-24*time.Hour, now)
	if r, _ := up.DB.Results.Get(key); !r.AbortAt.Equal(wait) {
		t.Fatalf("changed although that is not saved: %v", r.AbortAt)
	}
	now = up.SaveAgain
	for range 2 {
		up.clockSet(0, now)
		if r, _ := up.DB.Results.Get(key); !r.AbortAt.Equal(wait.Round(0).Add(-24 * time.Hour)) {
			t.Errorf("the wait ends at %v, want a day before %v", r.AbortAt, wait)
		}
	}
}

// The energy of a period in which the computer was asleep is not the tasks'.
func TestEnergyOfASleep(t *testing.T) {
	t.Parallel()
	db := clocked(t).DB
	key := state.Key("p", "a")
	statetest.Update(t, db, func(tx *state.Tx) { db.Results.Put(tx, key, state.Result{Project: "p"}) })
	e := Energy{Core: &core.Core{DB: db}, Gauge: new(Gauge), Meter: new(steady)}
	now := time.Unix(1_800_000_000, 0)
	at, _ := boottime.Now()
	e.count(now, true)
	for i, slept := range []time.Duration{0, time.Hour, 0} {
		now, at = now.Add(period), at+boottime.Time(period+slept)
		e.note(now, Run{Key: key}, period, 30*time.Second)
		e.divide(now, at)
		if got, want := e.Drawn(key).Joules, []float64{1000, 1000, 2000}[i]; math.Abs(got-want) > 1e-6 {
			t.Errorf("period %d: %v J, want %v", i, got, want)
		}
	}
}

// steady is a meter that counts 1000 J for 30 s of CPU time between two readings.
type steady float64

func (s *steady) Read() (joules, busy float64, ok bool) {
	*s++
	return 1000 * float64(*s), 30 * float64(*s), true
}
