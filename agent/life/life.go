// Package life handles a result on this computer, from its arrival to its report. It waits for its files, its
// application runs, and its outputs are sent.
//
//	advance.go    how results move from state to state
//	act.go        doing as a pass decided: applications start and stop
//	compute.go    describing a result to the executor, and taking in how it ended
//	uploads.go    outputs that are sent while their application runs
//	trickles.go   messages between applications and their projects
//	crash.go      tasks that may have brought the agent down
//	joblog.go     a record for people's tools
package life

import (
	"context"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/files"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/debt"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// A Life handles all results of an agent. It belongs to the loop.
type Life struct {
	*core.Core
	Exec     Applications
	Files    *files.Files
	Ledger   *usage.Ledger
	Presence *usage.Presence
	Disk     *usage.Disk
	// LastWords is the output of an earlier agent when it crashed, or "" if it did not.
	LastWords string

	// The following fields are lost at a restart, and may be.
	running    map[string]*process // by task: results that have a process
	trickleUps map[string]bool     // project → applications have messages for it
	computes   float64             // part of the time that the preferences let tasks compute now
	drain      drain               // that a person asked for
	// advanced is DB.Changes() when no result could go further.
	advanced uint64
}

// Applications run results' applications, as [executor.Executor] describes it.
type Applications interface {
	KillLeftovers(ctx context.Context) error
	Start(t executor.Task) error
	Suspend(result string) error
	Resume(result string) error
	Quit(result string) error
	Abort(result string, status int, reason string) error
	Reread(t executor.Task) error
	TrickleDown(result string, slot int, at time.Time, text string) error
	UploadEnded(result, logical string, status int) error
	Allow(a executor.Allowance)
	Watch()
	Progress() map[string]executor.Progress
	Saved(result string, slot int) (executor.Checkpointed, bool)
	Clear(slot int) error
	KeepImages(descriptions []string) error
	Stop(ctx context.Context) error
}

// Open initializes the records of work in progress, which are empty at first.
func (l *Life) Open() {
	l.running, l.trickleUps, l.computes = make(map[string]*process), make(map[string]bool), 1
}

// Recover repairs the state that a killed agent left behind.
func (l *Life) Recover(ctx context.Context, now time.Time) error {
	if err := l.Exec.KillLeftovers(ctx); err != nil {
		return err
	}
	l.suspect(now)
	l.Files.Recover(now)
	l.clearSlots()
	l.findCheckpoints()
	l.findTrickles()
	return nil
}

// Ran is an event: something happened to an application.
type Ran struct{ Of executor.Event }

// Event names it.
func (Ran) Event() string { return "application reported" }

// NotStarted is an event: an application could not be started.
type NotStarted struct {
	Task string
	Err  error
}

// Event names it.
func (NotStarted) Event() string { return "application not started" }

// Handle handles an event, if it belongs to this component.
func (l *Life) Handle(e core.Event) bool {
	switch e := e.(type) {
	case Ran:
		l.ran(e.Of)
	case NotStarted:
		l.notStarted(e.Task, e.Err)
	default:
		return false
	}
	return true
}

// A process is a result's application that was started.
type process struct {
	key   string    // of the result
	since time.Time // it started or was resumed
	// paused: it stays in memory and does nothing.
	paused bool
	on     []int         // numbers of the coprocessors that it was given
	used   time.Duration // CPU time that it had used when it ended (0 before)
	bill   debt.Bill
	pause  time.Duration // until it is started again if this start fails
}

// taskID names a result's run to the executor: result names are unique within
// their project only.
func taskID(r state.Result) string { return protocol.EscapeURL(r.Project) + "/" + r.Name }

// Account makes the ledger count the tasks that have run.
func (l *Life) Account(now time.Time) {
	var runs []usage.Run
	pools, progress := l.Coprocs.Pools(l.Host.Fpops), l.Exec.Progress()
	for task, run := range l.running {
		if run.paused {
			continue
		}
		if r, ok := l.DB.Results.Get(run.key); ok {
			v, _ := l.DB.Versions.Get(r.Version)
			x := usage.Run{Key: run.key, Project: r.Project, Since: run.since, Used: max(run.used, progress[task].Used), Bill: &run.bill}
			u := view.Usage(v, l.Accounts[r.Project])
			x.Light, _ = l.DB.SaidToBeLight(v)
			switch {
			case u.Coproc != nil:
				x.Kind, x.Speed, x.CPUs = u.Kind(), u.Speed(l.Host.NCPUs, pools), u.CPUs
				x.On, x.Part = run.on, u.Coproc.Count
			case !l.DB.NonCPUIntensive(v):
				x.CPUs = max(v.AvgNCPUs, 1)
				if !l.unthrottled(v) {
					x.CPUs *= l.computes
				}
			}
			runs = append(runs, x)
		}
	}
	if l.Ledger.Account(now, runs) {
		l.Reread()
	}
}

// Idle reports whether no result is held and nothing of one is in progress.
func (l *Life) Idle() bool {
	return l.DB.Results.Len() == 0 && l.Files.Idle() && len(l.running) == 0
}

// Running returns the number of results that have a process.
func (l *Life) Running() int { return len(l.running) }

// Computing reports whether one of them computes: it is not suspended in memory.
func (l *Life) Computing() bool {
	for _, run := range l.running {
		if !run.paused {
			return true
		}
	}
	return false
}

// Runs reports whether a result has a process.
func (l *Life) Runs(r state.Result) bool { return l.running[taskID(r)] != nil }

// Holds reports whether there are results of a project.
func (l *Life) Holds(project string) bool {
	for range l.DB.Results.Of(project) {
		return true
	}
	return false
}

// Processes returns the results that have a process, by their keys.
func (l *Life) Processes() map[string]view.Process {
	all, progress := make(map[string]view.Process, len(l.running)), l.Exec.Progress()
	for task, run := range l.running {
		p := view.Process{Since: run.since, Paused: run.paused, On: run.on}
		if far, ok := progress[task]; ok {
			p.Progress = &far
		}
		all[run.key] = p
	}
	return all
}

// TrickleUps returns the projects for which applications have messages. Callers must not modify it.
func (l *Life) TrickleUps() map[string]bool { return l.trickleUps }
