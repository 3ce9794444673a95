package life

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// Act starts and stops applications as a pass decided.
func (l *Life) Act(d decide.Decision, now time.Time) {
	l.allow(d)
	l.settle(d, now)
	for i, seen := range d.Snapshot.Results {
		plan := d.Plan.Results[i]
		if seen.Phase == decide.Runnable && (plan.Run() != seen.Running || moved(seen, plan)) {
			l.actOn(d.Snapshot.URL(seen), seen, plan, now)
		}
	}
}

// moved reports whether a result that runs is to continue on other coprocessors.
func moved(seen decide.Result, plan decide.ResultPlan) bool {
	return seen.Running && plan.Run() && seen.Coproc != nil && !slices.Equal(seen.Coproc.On, plan.On)
}

// settle saves, all at once, a pass's decisions about results that neither start nor stop.
func (l *Life) settle(d decide.Decision, now time.Time) {
	var late []Move
	var slots []int // of those that could not be started
	urgent := make(map[string]state.Result)
	for i, seen := range d.Snapshot.Results {
		plan := d.Plan.Results[i]
		if !plan.GiveUp && (seen.Phase != decide.Runnable || plan.Urgent == seen.Urgent) {
			continue
		}
		key := state.Key(d.Snapshot.URL(seen), seen.ID)
		r, ok := l.DB.Results.Get(key)
		switch {
		case !ok:
		case plan.GiveUp:
			if r.Slot != state.NoSlot {
				slots = append(slots, r.Slot)
			}
			late = append(late, Move{key, r, state.AbortRequested, func(r *state.Result) {
				r.ExitStatus, r.Message, r.Slot = protocol.ExitUnstartedLate, "not started by its deadline", state.NoSlot
				r.Stderr = Report(r.Message, "")
				r.Ready(now)
			}})
		case !l.Ending(r.Project).Leaves():
			r.Urgent = plan.Urgent
			urgent[key] = r
		}
	}
	l.MoveAll(late...)
	for _, slot := range slots {
		go l.clear(slot)
	}
	l.Save(func(tx *state.Tx) {
		for key, r := range urgent {
			l.DB.Results.Put(tx, key, r)
		}
	})
}

// actOn starts or stops a result's application.
func (l *Life) actOn(project string, seen decide.Result, plan decide.ResultPlan, now time.Time) {
	key := state.Key(project, seen.ID)
	r, ok := l.DB.Results.Get(key)
	switch {
	case !ok || r.ReadyToReport || l.Ending(project).Due(now):
	case plan.Run() && !seen.Running:
		l.start(key, r, plan.On, now)
	default: // one that moves to another device starts there once it has stopped
		l.halt(r, now)
	}
}

// halt stops a running task: it stays in memory where the volunteer wants that,
// or where it would lose all its work, and otherwise ends, to resume from its last
// checkpoint. One on a coprocessor always ends, since it would keep the device's memory.
func (l *Life) halt(r state.Result, now time.Time) {
	task := taskID(r)
	l.Log.Debug("stopping result", logflag.Key, logflag.CPUSched, "project", r.Project, "result", r.Name)
	run := l.running[task]
	var err error
	if p := l.Exec.Progress()[task]; run != nil && len(run.on) == 0 && (l.Prefs.LeaveAppsInMemory || p.WithoutCheckpoint && p.CPUTime > 0) {
		l.Account(now)
		err = l.Exec.Suspend(task)
		run.paused = err == nil
	} else {
		err = l.Exec.Quit(task)
	}
	if err != nil && !errors.Is(err, executor.ErrNotRunning) {
		l.Log.Warn("cannot stop a task", "result", r.Name, "err", err)
	}
}

// unpause resumes a task that stayed in memory, and reports whether there was
// one.
func (l *Life) unpause(r state.Result, now time.Time) bool {
	run := l.running[taskID(r)]
	if run == nil {
		return false
	}
	if run.paused {
		run.paused, run.since = false, now
		if err := l.Exec.Resume(taskID(r)); err != nil && !errors.Is(err, executor.ErrNotRunning) {
			l.Log.Warn("cannot resume a task", "result", r.Name, "err", err)
		}
	}
	return true
}

// start gives a result a slot, makes that durable and starts its application.
func (l *Life) start(key string, r state.Result, on []int, now time.Time) {
	if l.unpause(r, now) {
		return
	}
	if now.Before(l.SaveAgain) || !l.filesStand(key, r) {
		return
	}
	task, err := l.task(r, on)
	if err != nil {
		l.cannotRun(key, r, err, now)
		return
	}
	if r.Slot == state.NoSlot {
		r.Slot = l.freeSlot()
		l.Log.Debug("slot taken", logflag.Key, logflag.Slot, "slot", r.Slot, "result", r.Name)
	}
	if r.Started.IsZero() {
		r.Started = now
	}
	pause := pauseAfter(r, now)
	r.Obstacle = reason.Reason{}
	r.Live, r.LastStart = true, now
	if !l.Save(func(tx *state.Tx) {
		l.DB.Results.Put(tx, key, r)
		l.Files.Touch(tx, r, now)
	}) {
		return
	}
	task.Slot = r.Slot
	l.running[task.Result] = &process{key: key, since: now, on: on, pause: pause}
	l.Log.Debug("starting result", logflag.Key, logflag.CPUSched, "project", r.Project, "result", r.Name, "slot", r.Slot)
	go func() {
		if err := l.Exec.Start(task); err != nil {
			l.Post(NotStarted{task.Result, err})
		}
	}()
}

// cannotRun gives up a result that cannot be started here, now or later.
func (l *Life) cannotRun(key string, r state.Result, err error, now time.Time) {
	l.MoveAll(Move{key, r, state.ComputeFailed, func(r *state.Result) {
		r.ExitStatus, r.Message, r.Cause = protocol.ExitStartFailed, err.Error(), causeOf(err)
		r.Stderr = Report(err.Error(), "")
		r.Ready(now)
	}})
}

// A start that failed is tried again after retryLeast. The next pauses are twice as long each, up to
// retryMost.
const (
	retryLeast = time.Minute
	retryMost  = 10 * time.Minute
)

// pauseAfter returns how long a result that is started now is left alone if it cannot be started.
func pauseAfter(r state.Result, now time.Time) time.Duration {
	if !r.Obstacle.Is() {
		return retryLeast
	}
	return min(max(retryLeast, 2*now.Sub(r.LastStart)), retryMost)
}

// notStarted handles a start that failed. Trouble with this computer, such as a full disk, passes,
// and the start is tried again. A file that is not a program never becomes one.
func (l *Life) notStarted(task string, err error) {
	pause := retryLeast
	if run := l.running[task]; run != nil {
		pause = run.pause
	}
	key := l.ended(task)
	r, ok := l.DB.Results.Get(key)
	if !ok || errors.Is(err, executor.ErrStopped) {
		return
	}
	if errors.Is(err, executor.ErrUnusable) {
		slot := r.Slot
		r.Slot = state.NoSlot
		l.cannotRun(key, r, err, time.Now())
		go l.clear(slot)
		return
	}
	if changed, ok := errors.AsType[*executor.ChangedError](err); ok {
		var keys []string
		for _, name := range changed.Files {
			keys = append(keys, state.Key(r.Project, name))
			if err := os.Remove(filepath.Join(l.ProjectDir(r.Project), name)); err != nil {
				l.Log.Warn("cannot remove a file that has changed", "file", name, "err", err)
			}
		}
		r.Live = false
		l.fetchAgain(key, r, keys)
		return
	}
	l.Log.Error("cannot start a result; trying again later", "result", r.Name, "pause", pause, "err", err)
	if r.Started.Equal(r.LastStart) {
		r.Started = time.Time{} // its program has never run, so it is given up at its deadline
	}
	r.NotBefore, r.Obstacle, r.Live = time.Now().Add(pause), ofStart(err), false
	l.Save(func(tx *state.Tx) { l.DB.Results.Put(tx, key, r) })
}

// filesStand makes sure that no file was removed since it was fetched. Missing files are fetched
// again.
func (l *Life) filesStand(key string, r state.Result) bool {
	var gone []string
	for _, ref := range l.DB.Inputs(r) {
		k := state.Key(r.Project, ref.FileName)
		f, _ := l.DB.Files.Get(k)
		path := filepath.Join(l.ProjectDir(r.Project), ref.FileName)
		if f.Own {
			if _, err := os.Stat(path); err != nil {
				l.cannotRun(key, r, &ownFileError{ref.FileName, err}, time.Now())
				return false
			}
			continue
		}
		st, err := os.Lstat(path)
		if err != nil || !st.Mode().IsRegular() || f.NBytes > 0 && st.Size() != f.NBytes {
			gone = append(gone, k)
		}
	}
	if len(gone) > 0 {
		l.fetchAgain(key, r, gone)
	}
	return len(gone) == 0
}

// fetchAgain downloads files of a result once more, which are missing or have changed.
func (l *Life) fetchAgain(key string, r state.Result, files []string) {
	var names []string
	for _, k := range files {
		f, _ := l.DB.Files.Get(k)
		names = append(names, f.Name)
	}
	l.Log.Warn("files of a result are missing or have changed; downloading them again", "result", r.Name, "files", strings.Join(names, " "))
	next, _ := state.Next(r.State, state.FilesNeeded)
	r.State = next
	l.Save(func(tx *state.Tx) {
		for _, k := range files {
			f, _ := l.DB.Files.Get(k)
			f.Local = state.FileAbsent
			l.DB.Files.Put(tx, k, f)
		}
		l.DB.Results.Put(tx, key, r)
	})
}

// freeSlot returns the lowest slot number that no result has.
func (l *Life) freeSlot() int {
	taken := make(map[int]bool)
	for _, r := range l.DB.Results.All() {
		taken[r.Slot] = true
	}
	n := 0
	for taken[n] {
		n++
	}
	return n
}

// allow passes the current permissions of the preferences to the executor and the applications.
func (l *Life) allow(d decide.Decision) {
	s := d.Snapshot
	total := int64(l.Host.MemBytes)
	most := max(l.Prefs.Memory(total, true), l.Prefs.Memory(total, false))
	cpu := l.Prefs.Throttle(l.Prefs.InUse(l.Presence.Conditions(s.Now)))
	if l.computes = cpu / 100; cpu <= 0 {
		l.computes = 1
	}
	l.Exec.Allow(executor.Allowance{
		CPU: cpu, Memory: s.Memory, MostMemory: most, NetworkSuspended: s.Network.Denied(),
		Processes: l.Settings.MaxProcesses,
	})
}
