package life

import (
	"log/slog"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/state"
)

// slots holds the checkpoint that a killed agent has left in its only slot, if found.
type slots struct {
	Applications
	left  executor.Checkpointed
	found bool
}

func (s slots) Saved(string, int) (executor.Checkpointed, bool) { return s.left, s.found }

// A checkpoint in a slot is found however little later it is than the recorded one, and never takes
// anything back.
func TestCheckpointsThatAKilledAgentDidNotRecord(t *testing.T) {
	recorded := state.Checkpoint{CPUTime: 2 * time.Second, Elapsed: 3 * time.Second, Fraction: 0.5}
	later := executor.Checkpointed{CPUTime: 4 * time.Second, Elapsed: 5 * time.Second, Fraction: 0.75}
	for name, c := range map[string]struct {
		slots slots
		want  state.Checkpoint
	}{
		"nothing": {slots{}, recorded},
		"later":   {slots{left: later, found: true}, state.Checkpoint{CPUTime: later.CPUTime, Elapsed: later.Elapsed, Fraction: later.Fraction}},
		"the end of the run": {
			slots{left: executor.Checkpointed{CPUTime: 2015 * time.Millisecond, Elapsed: recorded.Elapsed, Fraction: 0.5}, found: true},
			state.Checkpoint{CPUTime: 2015 * time.Millisecond, Elapsed: recorded.Elapsed, Fraction: 0.5},
		},
		"earlier":             {slots{left: executor.Checkpointed{CPUTime: time.Second, Elapsed: time.Second, Fraction: 0.25}, found: true}, recorded},
		"of another result's": {slots{left: later}, recorded},
	} {
		t.Run(name, func(t *testing.T) {
			db := statetest.Open(t, t.TempDir())
			l := &Life{Core: &core.Core{Log: slog.New(slog.DiscardHandler), DB: db}, Exec: c.slots}
			r := state.Result{Project: "http://a.example/", Slot: 0, Checkpoint: recorded}
			r.Name = "task"
			key := state.Key(r.Project, r.Name)
			l.Save(func(tx *state.Tx) { db.Results.Put(tx, key, r) })
			l.findCheckpoints()
			if got, _ := db.Results.Get(key); got.Checkpoint != c.want {
				t.Errorf("got %+v, want %+v", got.Checkpoint, c.want)
			}
		})
	}
}
