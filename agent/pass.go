package agent

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// decide makes a pass: the policies look and say what to do. Debts are taken over
// at once; the rest is for act.
func (a *Agent) decide(now time.Time) decide.Decision {
	a.account(now)
	d := decide.Decide(a.facts(now).Snapshot())
	s := d.Snapshot
	a.tickUptime(now, !s.Compute.Denied(), !s.Network.Denied())
	for i, p := range s.Projects {
		a.debts.of[p.URL] = d.Plan.Projects[i].Debt
	}
	a.debts.settled = now
	clear(a.debts.used)
	a.log.Log(a.ctx, logflag.Detail, "debts", logflag.Key, logflag.Priority, "cpu_seconds", a.debts.of)
	a.tell(a.last, d)
	a.record(d)
	a.last = d
	return d
}

// tell logs what was decided differently from the last time.
func (a *Agent) tell(before, d decide.Decision) {
	first := before.Snapshot.Now.IsZero()
	if now := d.Snapshot.Compute; first || now.Code != before.Snapshot.Compute.Code {
		a.log.Debug("computing", logflag.Key, logflag.Suspend, "allowed", !now.Denied(), "why", now.Why)
	}
	if now := d.Snapshot.Network; first || now.Code != before.Snapshot.Network.Code {
		a.log.Debug("network", logflag.Key, logflag.NetworkStatus, "allowed", !now.Denied(), "why", now.Why)
	}
	for i, p := range d.Snapshot.Projects {
		if f := d.Plan.Projects[i].Fetch; before.Project(p.URL).Fetch.Code != f.Code {
			a.log.Debug("work fetch", logflag.Key, logflag.WorkFetch, "project", p.URL, "decision", f.Code, "why", f.Text)
		}
	}
	if !a.log.Enabled(a.ctx, slog.LevelDebug) {
		return
	}
	for i, seen := range d.Snapshot.Results {
		r := d.Plan.Results[i]
		if _, was, _ := before.Result(d.Snapshot.URL(seen), seen.ID); was.Code != r.Code {
			a.log.Debug("scheduling", logflag.Key, logflag.CPUSchedDebug, "result", seen.ID, "decision", r.Code, "why", r.Text)
		}
	}
}

// act starts and stops applications and begins sessions as a pass decided.
func (a *Agent) act(d decide.Decision, now time.Time) {
	a.allow(d)
	a.settle(d, now)
	for i, seen := range d.Snapshot.Results {
		if plan := d.Plan.Results[i]; plan.Run() != seen.Running && seen.Phase == decide.Runnable {
			a.actOn(d.Snapshot.URL(seen), seen, plan, now)
		}
	}
	for i, seen := range d.Snapshot.Projects {
		p, ok := a.db.Projects.Get(seen.URL)
		if _, account := a.accounts[seen.URL]; !ok || !account {
			continue
		}
		switch s := d.Plan.Projects[i].Session; s.Kind {
		case decide.Master:
			a.fetchMaster(p)
		case decide.RPC:
			a.session(p, s.Why, d, now)
		case decide.None:
		}
	}
}

// settle makes durable, all at once, what a pass decided of results that neither
// start nor stop.
func (a *Agent) settle(d decide.Decision, now time.Time) {
	var late []move
	urgent := make(map[string]state.Result)
	for i, seen := range d.Snapshot.Results {
		plan := d.Plan.Results[i]
		if !plan.GiveUp && (seen.Phase != decide.Runnable || plan.Urgent == seen.Urgent) {
			continue
		}
		key := state.Key(d.Snapshot.URL(seen), seen.ID)
		r, ok := a.db.Results.Get(key)
		switch {
		case !ok:
		case plan.GiveUp:
			late = append(late, move{key, r, state.AbortRequested, func(r *state.Result) {
				r.ExitStatus, r.Message = protocol.ExitUnstartedLate, "not started by its deadline"
				r.Stderr = errorReport(r.Message, "")
				r.Ready(now)
			}})
		case !a.ending(r.Project).Leaves():
			r.Urgent = plan.Urgent
			urgent[key] = r
		}
	}
	a.moveAll(late)
	a.save(func(tx *state.Tx) {
		for key, r := range urgent {
			a.db.Results.Put(tx, key, r)
		}
	})
}

// actOn starts or stops a result's application.
func (a *Agent) actOn(project string, seen decide.Result, plan decide.ResultPlan, now time.Time) {
	key := state.Key(project, seen.ID)
	r, ok := a.db.Results.Get(key)
	switch {
	case !ok || r.ReadyToReport || a.ending(project).Due(now):
	case plan.Run():
		a.start(key, r, now)
	default:
		a.halt(r, now)
	}
}

// halt stops a running task: it stays in memory where the volunteer wants that,
// or where it would lose all its work, and otherwise ends, to go on from its last
// checkpoint.
func (a *Agent) halt(r state.Result, now time.Time) {
	task := taskID(r)
	stop := a.exec.Quit
	a.log.Debug("stopping result", logflag.Key, logflag.CPUSched, "project", r.Project, "result", r.Name)
	if p := a.exec.Progress()[task]; a.prefs.LeaveAppsInMemory || p.WithoutCheckpoint && p.CPUTime > 0 {
		a.account(now)
		a.running[task].paused = true
		stop = a.exec.Suspend
	}
	if err := stop(task); err != nil && !errors.Is(err, executor.ErrNotRunning) {
		a.log.Warn("cannot stop a task", "result", r.Name, "error", err)
	}
}

// unpause lets a task that stayed in memory go on, and reports whether there was
// one.
func (a *Agent) unpause(r state.Result, now time.Time) bool {
	run := a.running[taskID(r)]
	if run == nil {
		return false
	}
	if run.paused {
		run.paused, run.since = false, now
		if err := a.exec.Resume(taskID(r)); err != nil && !errors.Is(err, executor.ErrNotRunning) {
			a.log.Warn("cannot resume a task", "result", r.Name, "error", err)
		}
	}
	return true
}

// decisionsFile holds the passes, one a line, when the log flag sched_decision is
// set. starling simulate --replay reads it.
const (
	decisionsFile    = "decisions.jsonl"
	maxDecisionsFile = 64 << 20 // bytes; then the file before is replaced
)

// record appends a pass to the journal of decisions.
func (a *Agent) record(d decide.Decision) {
	if !a.settings.LogFlags[logflag.SchedDecision] {
		return
	}
	path := filepath.Join(a.cfg.DataDir, decisionsFile)
	if st, err := os.Stat(path); err == nil && st.Size() > maxDecisionsFile {
		_ = os.Rename(path, path+".1") // else it grows on
	}
	line, err := json.Marshal(d.Record)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			_, err = f.Write(append(line, '\n'))
			_ = f.Close()
		}
	}
	if err != nil {
		a.log.Warn("a decision could not be recorded", "error", err)
	}
}
