package life

import (
	"log/slog"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// emptied receives the numbers of emptied slots.
type emptied struct {
	Applications
	slots chan int
}

func (e emptied) Clear(slot int) error {
	e.slots <- slot
	return nil
}

// A result whose program could not be started counts as not started, so that it does not wait beyond
// its deadline. A result that has run before does not.
func TestAFailedStartIsNone(t *testing.T) {
	db := statetest.Open(t, t.TempDir())
	exec := emptied{slots: make(chan int, 1)}
	l := &Life{Core: &core.Core{Log: slog.New(slog.DiscardHandler), DB: db}, Exec: exec}
	l.Open()
	const project = "http://a.example/"
	now := time.Now()
	result := func(name string, slot int, started time.Time) string {
		r := state.Result{Project: project, Slot: slot, Live: true, Started: started, LastStart: now}
		r.Name, r.State = name, protocol.ClientDownloaded
		key := state.Key(project, name)
		l.Save(func(tx *state.Tx) { db.Results.Put(tx, key, r) })
		l.running[taskID(r)] = &process{key: key}
		l.Handle(NotStarted{taskID(r), executor.ErrNoImages})
		return key
	}
	ran, _ := db.Results.Get(result("ran", 3, now.Add(-time.Hour)))
	key := result("new", 4, now)
	never, _ := db.Results.Get(key)
	if ran.Started.IsZero() || !never.Started.IsZero() || never.Obstacle.Code != reason.NoImages || never.Live {
		t.Fatalf("got %+v and %+v", ran, never)
	}
	d := decide.Decision{Record: decide.Record{
		Snapshot: decide.Snapshot{Projects: []decide.Project{{URL: project}}, Results: []decide.Result{{ID: "new", Phase: decide.Runnable}}},
		Plan:     decide.Plan{Results: []decide.ResultPlan{{GiveUp: true}}},
	}}
	l.settle(d, now)
	if r, _ := db.Results.Get(key); !r.ReadyToReport || r.ExitStatus != protocol.ExitUnstartedLate || r.Slot != state.NoSlot {
		t.Errorf("at the deadline: got %+v", r)
	}
	if slot := <-exec.slots; slot != 4 {
		t.Errorf("slot %d was emptied", slot)
	}
}

// A start that fails again and again is tried less often, since each attempt may take the place of a task that
// runs.
func TestPausesBetweenStarts(t *testing.T) {
	db := statetest.Open(t, t.TempDir())
	l := &Life{Core: &core.Core{Log: slog.New(slog.DiscardHandler), DB: db}}
	l.Open()
	var r state.Result
	r.Project, r.Name, r.State = "http://a.example/", "task", protocol.ClientDownloaded
	key := state.Key(r.Project, r.Name)
	l.Save(func(tx *state.Tx) { db.Results.Put(tx, key, r) })
	now := time.Now()
	for i, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
		r, _ := db.Results.Get(key)
		l.running[taskID(r)] = &process{key: key, pause: pauseAfter(r, now)}
		r.LastStart, r.Obstacle = now, reason.Reason{}
		l.Save(func(tx *state.Tx) { db.Results.Put(tx, key, r) })
		before := time.Now()
		l.Handle(NotStarted{taskID(r), executor.ErrNoImages})
		after := time.Now()
		r, _ = db.Results.Get(key)
		if r.NotBefore.Before(before.Add(want)) || r.NotBefore.After(after.Add(want)) {
			t.Errorf("attempt %d: again after %v, want %v", i+1, r.NotBefore.Sub(before), want)
		}
		now = now.Add(want)
	}
}

// starting is a task that is not known to the executor at first.
type starting struct {
	Applications
	known     bool
	suspended int
}

func (s *starting) Progress() map[string]executor.Progress { return nil }

func (s *starting) Suspend(string) error {
	if !s.known {
		return executor.ErrNotRunning
	}
	s.suspended++
	return nil
}

// A task counts as suspended only once the executor has accepted that, and is suspended again until
// then.
func TestASuspensionThatIsNotAccepted(t *testing.T) {
	exec := new(starting)
	c := &core.Core{Log: slog.New(slog.DiscardHandler), DB: statetest.Open(t, t.TempDir())}
	c.Prefs.LeaveAppsInMemory = true
	l := &Life{Core: c, Exec: exec, Ledger: &usage.Ledger{Core: c}}
	l.Open()
	r := state.Result{Project: "http://a.example/"}
	r.Name = "task"
	run := &process{key: state.Key(r.Project, r.Name)}
	l.running[taskID(r)] = run
	l.halt(r, time.Now())
	if run.paused {
		t.Error("it counts as suspended before it runs")
	}
	exec.known = true
	l.halt(r, time.Now())
	if !run.paused || exec.suspended != 1 {
		t.Errorf("paused %v, suspended %d times", run.paused, exec.suspended)
	}
}
