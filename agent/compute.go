package agent

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/starling-grid/starling/boincapi/wasmhost"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/state"
)

// A process is a result's application that was started.
type process struct {
	key   string    // of the result
	since time.Time // it started or was resumed
	// paused: it stays in memory and does nothing.
	paused bool
}

// ran forgets a process that has ended and returns its result's key.
func (a *Agent) ran(task string) (key string) {
	if run := a.running[task]; run != nil {
		key = run.key
	}
	delete(a.running, task)
	return key
}

// taskID names a result's run to the executor: result names are unique within
// their project only.
func taskID(r state.Result) string { return protocol.EscapeURL(r.Project) + "/" + r.Name }

// start gives a result a slot, makes that durable and starts its application.
func (a *Agent) start(key string, r state.Result, now time.Time) {
	if a.unpause(r, now) {
		return
	}
	if now.Before(a.saveAgain) || !a.filesStand(key, r) {
		return
	}
	task, err := a.task(r)
	if err != nil {
		a.cannotRun(key, r, err, now)
		return
	}
	if r.Slot == state.NoSlot {
		r.Slot = a.freeSlot()
		a.log.Debug("slot taken", logflag.Key, logflag.Slot, "slot", r.Slot, "result", r.Name)
	}
	if r.Started.IsZero() {
		r.Started = now
	}
	r.Live, r.LastStart = true, now
	if !a.save(func(tx *state.Tx) { a.db.Results.Put(tx, key, r) }) {
		return
	}
	task.Slot = r.Slot
	a.running[task.Result] = &process{key: key, since: now}
	a.log.Debug("starting result", logflag.Key, logflag.CPUSched, "project", r.Project, "result", r.Name, "slot", r.Slot)
	go func() {
		if err := a.exec.Start(task); err != nil {
			a.post(func() { a.notStarted(task.Result, err) })
		}
	}()
}

// cannotRun gives up a result that cannot be started here, now or later.
func (a *Agent) cannotRun(key string, r state.Result, err error, now time.Time) {
	a.move(key, r, state.ComputeFailed, func(r *state.Result) {
		r.ExitStatus, r.Message = protocol.ExitStartFailed, err.Error()
		r.Stderr = errorReport(err.Error(), "")
		r.Ready(now)
	})
}

// notStarted handles a start that failed. Trouble with this computer, such as a
// full disk, passes, and it is tried again; a program that is none does not.
func (a *Agent) notStarted(task string, err error) {
	key := a.ran(task)
	r, ok := a.db.Results.Get(key)
	if !ok || errors.Is(err, executor.ErrStopped) {
		return
	}
	if errors.Is(err, executor.ErrUnusable) {
		slot := r.Slot
		r.Slot = state.NoSlot
		a.cannotRun(key, r, err, time.Now())
		go a.clear(slot)
		return
	}
	a.log.Error("cannot start a result, trying again in a minute", "result", r.Name, "error", err)
	r.NotBefore, r.Live = time.Now().Add(time.Minute), false
	a.save(func(tx *state.Tx) { a.db.Results.Put(tx, key, r) })
}

// filesStand makes sure that nobody removed a file since it was fetched; what
// is missing is fetched again.
func (a *Agent) filesStand(key string, r state.Result) bool {
	var gone []string
	for _, ref := range a.db.Inputs(r) {
		k := state.Key(r.Project, ref.FileName)
		f, _ := a.db.Files.Get(k)
		st, err := os.Lstat(filepath.Join(a.projectDir(r.Project), ref.FileName))
		if err != nil || !st.Mode().IsRegular() || f.NBytes > 0 && st.Size() != f.NBytes {
			gone = append(gone, k)
		}
	}
	if len(gone) == 0 {
		return true
	}
	a.log.Warn("files of a result have gone or changed and are fetched again", "result", r.Name, "files", len(gone))
	next, _ := state.Next(r.State, state.FilesNeeded)
	r.State = next
	a.save(func(tx *state.Tx) {
		for _, k := range gone {
			f, _ := a.db.Files.Get(k)
			f.Local = state.FileAbsent
			a.db.Files.Put(tx, k, f)
		}
		a.db.Results.Put(tx, key, r)
	})
	return false
}

// freeSlot returns the lowest slot number that no result has.
func (a *Agent) freeSlot() int {
	taken := make(map[int]bool)
	for _, r := range a.db.Results.All() {
		taken[r.Slot] = true
	}
	n := 0
	for taken[n] {
		n++
	}
	return n
}

// task describes a result to the executor.
func (a *Agent) task(r state.Result) (executor.Task, error) {
	p, _ := a.db.Projects.Get(r.Project)
	v, okV := a.db.Versions.Get(r.Version)
	u, okU := a.db.Units.Get(state.Key(r.Project, r.WorkunitName))
	if !okV || !okU {
		return executor.Task{}, errors.New("its app version or workunit is not known")
	}
	app := a.accounts[r.Project].App(u.AppName)
	t := executor.Task{
		Result: taskID(r), ProjectURL: r.Project, ProjectDir: a.projectDir(r.Project), FLOPS: v.Speed(a.host.Fpops),
		Args: slices.Concat(executor.SplitCommandLine(u.CommandLine), executor.SplitCommandLine(v.Cmdline), executor.SplitCommandLine(app.Cmdline)),
	}
	init := appipc.DefaultInitData()
	for _, ref := range v.FileRefs {
		if ref.MainProgram {
			if t.Program != "" {
				return t, errors.New("the app version names two main programs")
			}
			t.Program = ref.FileName
		}
		init.AppFiles = append(init.AppFiles, ref.FileName)
		t.Files = append(t.Files, executor.File{Physical: ref.FileName, Logical: ref.OpenName, Copy: ref.CopyFile})
	}
	if t.Program == "" {
		return t, errors.New("the app version names no main program")
	}
	if v.Platform == wasmhost.Platform {
		self, err := os.Executable()
		if err != nil {
			return t, err
		}
		t.Runner = append([]string{self}, wasmhost.Args...)
	}
	for _, ref := range u.FileRefs {
		t.Files = append(t.Files, executor.File{Physical: ref.FileName, Logical: ref.OpenName, Copy: ref.CopyFile})
	}
	for _, ref := range r.FileRefs {
		f, _ := a.db.Files.Get(state.Key(r.Project, ref.FileName))
		t.Files = append(t.Files, executor.File{
			Physical: ref.FileName, Logical: ref.OpenName, Copy: ref.CopyFile,
			Output: true, Optional: ref.Optional, MaxBytes: f.MaxNBytes,
		})
	}
	c := protocol.CompatVersion
	init.MajorVersion, init.MinorVersion, init.Release = c.Major, c.Minor, c.Release
	init.AppVersion, init.AppName, init.PlanClass = v.VersionNum, v.AppName, v.PlanClass
	init.UserID, init.HostID, init.UserName, init.TeamName = p.UserID, p.HostID, p.UserName, p.TeamName
	init.ProjectPreferences, init.Authenticator = p.ProjectPrefs, string(a.accounts[r.Project].Authenticator)
	init.WUName, init.ResultName = u.Name, r.Name
	init.UserTotalCredit, init.UserExpavgCredit = p.UserTotalCredit, p.UserExpavgCredit
	init.HostTotalCredit, init.HostExpavgCredit = p.HostTotalCredit, p.HostExpavgCredit
	init.ResourceShareFraction = a.shareFraction(r.Project)
	init.CheckpointPeriod = a.prefs.CheckpointPeriod()
	init.NCPUs = max(cmp.Or(app.AvgNCPUs, v.AvgNCPUs), 1)
	init.RscFPOpsEst, init.RscFPOpsBound = u.RscFpopsEst, u.RscFpopsBound
	init.RscMemoryBound, init.RscDiskBound = int64(u.RscMemoryBound), int64(u.RscDiskBound)
	init.ComputationDeadline = r.ReportDeadline
	init.HostInfo, init.GlobalPreferences = a.host.InnerXML(), a.prefs.XML()
	init.NoPriorityChange = a.settings.NoPriorityChange
	t.Init = init
	return t, nil
}

// allow tells the executor and the applications what the preferences grant now.
func (a *Agent) allow(d decide.Decision) {
	s := d.Snapshot
	total := int64(a.host.MemBytes)
	most := max(a.prefs.Memory(total, true), a.prefs.Memory(total, false))
	inUse := a.prefs.InUse(a.conditions(s.Now))
	a.exec.Allow(executor.Allowance{
		CPU: a.prefs.Throttle(inUse), Memory: s.Memory, MostMemory: most, NetworkSuspended: s.Network.Denied(),
		Processes: a.settings.MaxProcesses,
	})
}

// reread gives running applications preferences that have changed.
func (a *Agent) reread() {
	for id, run := range a.running {
		r, ok := a.db.Results.Get(run.key)
		if !ok {
			continue
		}
		if t, err := a.task(r); err == nil {
			_ = a.exec.Reread(id, t.Init) // one that has just ended needs none
		}
	}
}

// applyRun takes what the executor reports.
func (a *Agent) applyRun(e executor.Event) {
	switch e := e.(type) {
	case executor.Checkpointed:
		a.checkpointed(e)
	case executor.TrickledUp:
		a.trickledUp(e)
	case executor.UploadRequested:
		a.uploadRequested(e)
	case executor.Exited:
		a.exited(e, time.Now())
	}
}

func (a *Agent) checkpointed(e executor.Checkpointed) {
	run := a.running[e.Result]
	if run == nil {
		return
	}
	key := run.key
	if r, ok := a.db.Results.Get(key); ok {
		r.Checkpoint = state.Checkpoint{CPUTime: e.CPUTime, Elapsed: e.Elapsed, Fraction: e.Fraction}
		a.save(func(tx *state.Tx) { a.db.Results.Put(tx, key, r) })
	}
}

// exited makes the end of a run durable. If that fails the result stays in its
// slot as it is, and its application is started again to find its work done.
func (a *Agent) exited(e executor.Exited, now time.Time) {
	a.account(now)
	key := a.ran(e.Result)
	r, ok := a.db.Results.Get(key)
	if !ok {
		return
	}
	slot := r.Slot
	r.CPUTime, r.Elapsed, r.PeakRSS, r.Live = e.CPUTime, e.Elapsed, e.PeakWorkingSet, false
	log := a.log.With("project", r.Project, "result", r.Name)
	switch e.Verdict {
	case executor.Success:
		log.Info("result finished", logflag.Key, logflag.Task, "cpu_seconds", e.CPUTime.Seconds(), "elapsed_seconds", e.Elapsed.Seconds())
		r.Stderr = errorReport("", e.Stderr)
		a.finished(key, r, e.Outputs, now)
	case executor.ComputeError, executor.Aborted:
		event := state.ComputeFailed
		if e.Verdict == executor.Aborted {
			event = state.AbortRequested
		}
		a.move(key, r, event, func(r *state.Result) {
			r.ExitStatus, r.Message, r.Slot = e.ExitStatus, e.Message, state.NoSlot
			if r.Message == "" {
				r.Message = "exit status " + strconv.Itoa(e.ExitStatus)
			}
			r.Stderr = errorReport(r.Message, e.Stderr)
			r.Ready(now)
		})
	case executor.Postponed:
		log.Info("result postponed by its application", logflag.Key, logflag.Task, "for", e.Delay, "why", e.Message)
		r.NotBefore = now.Add(e.Delay)
		a.save(func(tx *state.Tx) { a.db.Results.Put(tx, key, r) })
	case executor.WillRestart:
		log.Debug("result stopped, to be continued", logflag.Key, logflag.Task, "why", e.Message)
		a.save(func(tx *state.Tx) { a.db.Results.Put(tx, key, r) })
	}
	if e.Verdict.Over() {
		if r, _ := a.db.Results.Get(key); r.Slot == state.NoSlot {
			go a.clear(slot)
		}
	}
}

// finished records a result's output files, to be uploaded.
func (a *Agent) finished(key string, r state.Result, outputs []executor.Output, now time.Time) {
	next, ok := state.Next(r.State, state.Finished)
	if !ok {
		return
	}
	r.State, r.Slot, r.Completed = next, state.NoSlot, now
	r.Checkpoint.Fraction = 1
	saved := a.save(func(tx *state.Tx) {
		for _, o := range outputs {
			k := state.Key(r.Project, o.Physical)
			f, known := a.db.Files.Get(k)
			if !known {
				continue
			}
			sent := f.Done && f.MD5 == o.MD5 // while it ran
			f.NBytes, f.MD5, f.Local = o.NBytes, o.MD5, state.FilePresent
			f.Done = sent || o.Missing || len(f.UploadURLs) == 0
			if o.Missing {
				f.Local = state.FileAbsent
			}
			a.db.Files.Put(tx, k, f)
		}
		a.db.Results.Put(tx, key, r)
		if p, ok := a.db.Projects.Get(r.Project); ok {
			// A finished result frees a CPU: it is worth asking for work again.
			p.Fetch.Retry, p.Fetch.Errors = state.Retry{}, 0
			p.Estimates = a.learn(p, r)
			a.db.Projects.Put(tx, r.Project, p)
		}
	})
	if !saved {
		a.log.Error("a finished result could not be recorded; it is looked at again", "result", r.Name)
	}
}

// clear empties a slot, which may take long; trouble is for the log, since a slot
// is emptied again before it is used.
func (a *Agent) clear(slot int) {
	switch err := a.exec.Clear(slot); {
	case errors.Is(err, executor.ErrBusy), errors.Is(err, executor.ErrStopped):
		return
	case err != nil:
		a.log.Warn("cannot empty a slot", "slot", slot, "error", err)
		return
	}
	a.log.Debug("slot emptied", logflag.Key, logflag.Slot, "slot", slot)
}

// findCheckpoints takes note of checkpoints that an agent which was killed had no
// time to take note of.
func (a *Agent) findCheckpoints() {
	a.save(func(tx *state.Tx) {
		for key, r := range a.db.Results.All() {
			if r.Slot == state.NoSlot {
				continue
			}
			if c, ok := a.exec.Saved(taskID(r), r.Slot); ok && c.Elapsed > r.Checkpoint.Elapsed {
				r.Checkpoint = state.Checkpoint{CPUTime: c.CPUTime, Elapsed: c.Elapsed, Fraction: c.Fraction}
				a.db.Results.Put(tx, key, r)
			}
		}
	})
}

// clearSlots empties the slots that no result has, left by a crash between the
// end of a result and the emptying.
func (a *Agent) clearSlots() {
	taken := make(map[string]bool)
	for _, r := range a.db.Results.All() {
		taken[strconv.Itoa(r.Slot)] = true
	}
	entries, err := os.ReadDir(filepath.Join(a.cfg.DataDir, slotsDir))
	if err != nil {
		a.log.Warn("cannot list the slots", "error", err)
		return
	}
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && !taken[e.Name()] {
			a.clear(n)
		}
	}
}

// stated is how long a result of so many operations computes, by the server's
// word and the speed of this computer.
func (a *Agent) stated(version string, fpops float64) time.Duration {
	v, _ := a.db.Versions.Get(version)
	return v.Stated(fpops, a.host.Fpops)
}

// learn is what is known of a project's estimates after a result is finished.
func (a *Agent) learn(p state.Project, r state.Result) state.Estimates {
	u, _ := a.db.Units.Get(state.Key(r.Project, r.WorkunitName))
	whole := a.stated(r.Version, u.RscFpopsEst)
	if whole <= 0 {
		return p.Estimates
	}
	learnt := jobsched.Estimator(p.Estimates).Finished(r.Elapsed.Seconds() / whole.Seconds())
	a.log.Debug("estimate compared", logflag.Key, logflag.DCF, "result", r.Name, "stated", whole, "took", r.Elapsed, "before", fmt.Sprintf("%+v", p.Estimates), "now", fmt.Sprintf("%+v", learnt))
	return state.Estimates(learnt)
}
