package world

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/starling-grid/starling/executor"
)

// apps replace the executor and the applications during one life of an agent. They compute by the
// virtual clock, and write checkpoints to their slots and outputs to the project's folder.
type apps struct {
	life   *life
	dir    string
	report func(executor.Event)

	mu      sync.Mutex
	runs    map[string]*run
	stopped bool
}

// A run is an application that runs.
type run struct {
	apps  *apps
	task  executor.Task
	timer *time.Timer

	done      time.Duration // as of since
	since     time.Time     // it runs since then (zero: suspended)
	kept      time.Duration // at the last checkpoint
	whole     time.Duration // until it ends, one way or another
	end       fate
	everySave time.Duration
}

// A fate is the way an application ends.
type fate int

const (
	right fate = iota
	wrong      // its output is not a valid one
	fails
	hangs // until it has taken too long
)

// checkpoint is the content of a slot.
type checkpoint struct {
	Result  string
	Elapsed time.Duration
}

func (a *apps) slot(n int) string { return filepath.Join(a.dir, "slots", strconv.Itoa(n)) }

func (a *apps) file(slot int) string { return filepath.Join(a.slot(slot), "checkpoint") }

func (a *apps) Start(t executor.Task) error {
	// Filling a slot takes a moment, so that what else happens in this one never sees it.
	time.Sleep(between(a.life.h.w.draw("start", a.life.h.name, t.Init.ResultName, time.Now()), time.Millisecond, time.Second))
	a.life.point()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return executor.ErrStopped
	}
	if a.life.full.Load() {
		return syscall.ENOSPC
	}
	if a.runs[t.Result] != nil {
		return executor.ErrBusy
	}
	for _, r := range a.runs {
		if r.task.Slot == t.Slot {
			return executor.ErrBusy
		}
	}
	input := ""
	for _, f := range t.Files {
		if f.Output {
			continue
		}
		b, err := os.ReadFile(filepath.Join(t.ProjectDir, f.Physical))
		if err != nil {
			return err
		}
		if f.Logical == "in" {
			input = string(b)
		}
	}
	var c checkpoint
	if b, err := os.ReadFile(a.file(t.Slot)); err == nil {
		_ = json.Unmarshal(b, &c)
	}
	if c.Result != t.Result {
		c = checkpoint{Result: t.Result}
		if err := errors.Join(os.RemoveAll(a.slot(t.Slot)), os.Mkdir(a.slot(t.Slot), 0o700)); err != nil {
			return err
		}
	}
	r := &run{apps: a, task: t, done: c.Elapsed, kept: c.Elapsed, since: time.Now()}
	h := a.life.h
	luck := h.w.draw("app", h.name, t.Init.ResultName)
	estimate := time.Duration(t.Init.RscFPOpsEst / 1e9 * float64(time.Second))
	r.whole = time.Duration(float64(estimate) * (0.3 + 1.5*luck.Float64()))
	r.everySave = between(luck, time.Hour, 12*time.Hour)
	switch m := h.manner; {
	case chance(luck, m.fails):
		r.end, r.whole = fails, time.Duration(luck.Float64()*float64(r.whole))
	case chance(luck, m.hangs):
		r.end, r.whole = hangs, 10*estimate
	case chance(luck, m.lies):
		r.end = wrong
	}
	if input == "" {
		r.end, r.whole = fails, time.Second
	}
	a.runs[t.Result] = r
	r.arm()
	return nil
}

// arm sets the timer for the next event: a checkpoint or the end.
func (r *run) arm() {
	r.timer = time.AfterFunc(min(r.whole-r.done, r.kept+r.everySave-r.done), r.wake)
}

// settle counts the time since it was started or resumed.
func (r *run) settle() {
	if !r.since.IsZero() {
		now := time.Now()
		r.done, r.since = r.done+now.Sub(r.since), now
	}
}

func (r *run) wake() {
	a := r.apps
	a.life.point()
	a.mu.Lock()
	if a.runs[r.task.Result] != r || r.since.IsZero() {
		a.mu.Unlock()
		return
	}
	r.settle()
	var e executor.Event
	if r.done >= r.whole {
		e = r.finish()
	} else {
		e = r.save()
		r.arm()
	}
	a.mu.Unlock()
	a.report(e)
}

func (r *run) save() executor.Event {
	r.kept = r.done
	b, _ := json.Marshal(checkpoint{r.task.Result, r.done})
	tmp := r.apps.file(r.task.Slot) + ".new"
	if err := os.WriteFile(tmp, b, 0o600); err == nil {
		_ = os.Rename(tmp, r.apps.file(r.task.Slot))
	}
	return executor.Checkpointed{Result: r.task.Result, CPUTime: r.done, Elapsed: r.done, Fraction: r.fraction()}
}

func (r *run) fraction() float64 { return min(1, r.done.Seconds()/r.whole.Seconds()) }

// finish ends the run. The output is a function of the input, and of a liar's result.
func (r *run) finish() executor.Exited {
	delete(r.apps.runs, r.task.Result)
	e := executor.Exited{Result: r.task.Result, Slot: r.task.Slot, CPUTime: r.done, Elapsed: r.done, Verdict: executor.Success}
	h := r.apps.life.h
	switch r.end {
	case fails:
		e.Verdict, e.ExitStatus = executor.ComputeError, 1
		return e
	case hangs:
		e.Verdict, e.ExitStatus = executor.ComputeError, 197
		return e
	case right, wrong:
	}
	out := "right " + r.task.Init.WUName
	if r.end == wrong {
		out = "wrong " + r.task.Init.ResultName + " " + h.name
	}
	for _, f := range r.task.Files {
		if !f.Output {
			continue
		}
		if err := os.WriteFile(filepath.Join(r.task.ProjectDir, f.Physical), []byte(out), 0o600); err != nil {
			e.Verdict, e.ExitStatus, e.Message = executor.ComputeError, 1, err.Error()
			return e
		}
		sum := md5.Sum([]byte(out))
		e.Outputs = append(e.Outputs, executor.Output{Physical: f.Physical, Logical: f.Logical, NBytes: int64(len(out)), MD5: hex.EncodeToString(sum[:])})
	}
	r.apps.life.finished(r.task.Init.ResultName, r.end == wrong)
	return e
}

// leave ends a run before its time.
func (a *apps) leave(result string, verdict executor.Verdict, status int, why string) error {
	a.mu.Lock()
	r := a.runs[result]
	if r == nil {
		a.mu.Unlock()
		return fmt.Errorf("%s: %w", result, executor.ErrNotRunning)
	}
	delete(a.runs, result)
	r.timer.Stop()
	r.settle()
	a.mu.Unlock()
	e := executor.Exited{Result: result, Slot: r.task.Slot, Verdict: verdict, ExitStatus: status, Message: why, CPUTime: r.kept, Elapsed: r.kept}
	go a.report(e)
	return nil
}

func (a *apps) Quit(result string) error { return a.leave(result, executor.WillRestart, 0, "quit") }

func (a *apps) Abort(result string, status int, reason string) error {
	return a.leave(result, executor.Aborted, status, reason)
}

func (a *apps) with(result string, f func(r *run)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.runs[result]
	if r == nil {
		return fmt.Errorf("%s: %w", result, executor.ErrNotRunning)
	}
	f(r)
	return nil
}

func (a *apps) Suspend(result string) error {
	return a.with(result, func(r *run) {
		r.settle()
		r.since = time.Time{}
		r.timer.Stop()
	})
}

func (a *apps) Resume(result string) error {
	return a.with(result, func(r *run) {
		if r.since.IsZero() {
			r.since = time.Now()
			r.arm()
		}
	})
}

func (a *apps) Watch() {}

func (a *apps) Progress() map[string]executor.Progress {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make(map[string]executor.Progress, len(a.runs))
	for name, r := range a.runs {
		r.settle()
		all[name] = executor.Progress{
			PID: 1, Fraction: r.fraction(), CPUTime: r.done, Elapsed: r.done, CheckpointCPUTime: r.kept, CheckpointElapsed: r.kept,
			WorkingSet: 1 << 20, PeakWorkingSet: 1 << 20, Suspended: r.since.IsZero(), Listens: true, WithoutCheckpoint: r.kept == 0,
		}
	}
	return all
}

func (a *apps) KeepImages([]string) error { return nil }

func (a *apps) Clear(slot int) error {
	time.Sleep(between(a.life.h.w.draw("clear", a.life.h.name, slot, time.Now()), time.Millisecond, time.Second))
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return executor.ErrStopped
	}
	for _, r := range a.runs {
		if r.task.Slot == slot {
			return executor.ErrBusy
		}
	}
	return os.RemoveAll(a.slot(slot))
}

func (a *apps) Stop(context.Context) error {
	a.mu.Lock()
	a.stopped = true
	var ended []executor.Event
	for name, r := range a.runs {
		r.timer.Stop()
		r.settle()
		r.save()
		ended = append(ended, executor.Exited{Result: name, Slot: r.task.Slot, Verdict: executor.WillRestart, CPUTime: r.kept, Elapsed: r.kept})
	}
	clear(a.runs)
	a.mu.Unlock()
	for _, e := range ended {
		a.report(e)
	}
	return nil
}

func (*apps) KillLeftovers(context.Context) error              { return nil }
func (*apps) Reread(executor.Task) error                       { return nil }
func (*apps) TrickleDown(string, int, time.Time, string) error { return nil }
func (*apps) UploadEnded(string, string, int) error            { return nil }
func (*apps) Allow(executor.Allowance)                         {}

// Saved finds none. The agent then shows the last checkpoint reported to it.
func (a *apps) Saved(string, int) (executor.Checkpointed, bool) {
	return executor.Checkpointed{}, false
}
