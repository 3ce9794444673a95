package life

import (
	"errors"
	"strconv"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/state"
)

// clear empties a slot, which may take long. Errors are only logged, since a slot is emptied again
// before it is used.
func (l *Life) clear(slot int) {
	switch err := l.Exec.Clear(slot); {
	case errors.Is(err, executor.ErrBusy), errors.Is(err, executor.ErrStopped):
		return
	case err != nil:
		l.Log.Warn("cannot empty a slot", "slot", slot, "err", err)
		return
	}
	l.Log.Debug("slot emptied", logflag.Key, logflag.Slot, "slot", slot)
}

// findCheckpoints records checkpoints that an agent had no time to record before it was killed. The
// end of a run is the last: it may differ from the checkpoint before it in CPU time alone.
func (l *Life) findCheckpoints() {
	l.Save(func(tx *state.Tx) {
		for key, r := range l.DB.Results.All() {
			if r.Slot == state.NoSlot {
				continue
			}
			if c, ok := l.Exec.Saved(taskID(r), r.Slot); ok && (c.Elapsed > r.Checkpoint.Elapsed || c.CPUTime > r.Checkpoint.CPUTime) {
				r.Checkpoint = state.Checkpoint{CPUTime: c.CPUTime, Elapsed: c.Elapsed, Fraction: c.Fraction}
				l.DB.Results.Put(tx, key, r)
			}
		}
	})
}

// clearSlots empties the slots that no result has, left by a crash between the
// end of a result and the emptying.
func (l *Life) clearSlots() {
	taken := make(map[string]bool)
	for _, r := range l.DB.Results.All() {
		taken[strconv.Itoa(r.Slot)] = true
	}
	var left []int
	dir, err := foreigndir.OpenRoot(l.Dir, core.SlotsDir)
	if err == nil {
		err = foreigndir.Names(dir, ".", func(name string) bool {
			if n, err := strconv.Atoi(name); err == nil && !taken[name] {
				left = append(left, n)
			}
			return true
		})
		_ = dir.Close()
	}
	if err != nil {
		l.Log.Warn("cannot list the slots", "err", err)
	}
	for _, n := range left {
		l.clear(n)
	}
}
