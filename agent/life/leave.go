package life

import (
	"errors"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/outcome"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// Abort gives up a result that is not computed yet.
func (l *Life) Abort(key string, r state.Result, why string) error {
	if l.running[taskID(r)] != nil {
		return l.Exec.Abort(taskID(r), protocol.ExitAbortedByUser, why)
	}
	slot := r.Slot
	l.MoveAll(Aborted(key, r, why))
	if slot != state.NoSlot {
		go l.clear(slot)
	}
	return nil
}

// Aborted returns the move that gives up a result without a process.
func Aborted(key string, r state.Result, why string) Move {
	return Move{key, r, state.AbortRequested, func(r *state.Result) {
		r.ExitStatus, r.Message, r.Slot = protocol.ExitAbortedByUser, why, state.NoSlot
		r.Stderr = AddError(r.Stderr, r.Message)
		r.Ready(time.Now())
	}}
}

// AbortDue aborts the tasks whose time to take that back is over.
func (l *Life) AbortDue(now time.Time, w *core.Waker) {
	for key, r := range l.DB.Results.All() {
		switch {
		case r.AbortAt.IsZero() || r.ReadyToReport || !r.Computing():
		case now.Before(r.AbortAt):
			w.By(r.AbortAt)
		default:
			if err := l.Abort(key, r, "aborted by user"); err != nil && !errors.Is(err, executor.ErrNotRunning) { // its end is about to be reported
				l.Log.Warn("cannot abort a task", "result", r.Name, "err", err)
			}
		}
	}
}

// Busy reports whether a project still has a process or a transfer.
func (l *Life) Busy(project string) bool {
	for _, run := range l.running {
		if r, ok := l.DB.Results.Get(run.key); ok && r.Project == project {
			return true
		}
	}
	return l.Files.Busy(project)
}

// Forget removes all records of a project. With next, that is its record from then on, otherwise it
// has none. Its unfinished results are in the history as aborted. Its files must have been removed:
// files without a record would stay forever.
func (l *Life) Forget(project string, next *state.Project) bool {
	var slots []int
	now := time.Now()
	ok := l.Save(func(tx *state.Tx) {
		for k, r := range l.DB.Results.Of(project) {
			if !r.ReadyToReport {
				r.State, r.ExitStatus, r.Message = protocol.ClientAborted, protocol.ExitAbortedByUser, outcome.ProjectLeft
				r.Ready(now)
				l.DB.End(tx, outcome.Ended(l.DB, r))
			}
			if r.Slot != state.NoSlot {
				slots = append(slots, r.Slot)
			}
			l.DB.Results.Delete(tx, k)
		}
		for k := range l.DB.Units.Of(project) {
			l.DB.Units.Delete(tx, k)
		}
		for k := range l.DB.Versions.Of(project) {
			l.DB.Versions.Delete(tx, k)
		}
		for k := range l.DB.Apps.Of(project) {
			l.DB.Apps.Delete(tx, k)
		}
		for k := range l.DB.Files.Of(project) {
			l.DB.Files.Delete(tx, k)
		}
		for k := range l.DB.Notices.Of(project) {
			l.DB.Notices.Delete(tx, k)
		}
		if next == nil {
			l.DB.Projects.Delete(tx, project)
		} else {
			l.DB.Projects.Put(tx, project, *next)
		}
	})
	if !ok {
		return false
	}
	for _, n := range slots {
		go l.clear(n)
	}
	return true
}

// AbortAll ends the applications of a project.
func (l *Life) AbortAll(project, why string) {
	for _, run := range l.running {
		if r, ok := l.DB.Results.Get(run.key); ok && r.Project == project {
			_ = l.Exec.Abort(taskID(r), protocol.ExitAbortedByUser, why)
		}
	}
}

// AbortByProject ends the application of a result that its project no longer needs.
func (l *Life) AbortByProject(r state.Result) {
	_ = l.Exec.Abort(taskID(r), protocol.ExitAbortedByProject, "aborted by project")
}
