package agent

import (
	"errors"
	"time"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// A decision is the last pass: what was looked at and what was decided.
type decision struct {
	decide.Record
	urls     []string       // of Snapshot.Projects
	keys     []string       // of Snapshot.Results
	projects map[string]int // index by master URL
	results  map[string]int // by key
}

// project returns what was decided for a project; nothing if it came later.
func (d decision) project(u string) decide.ProjectPlan {
	if i, ok := d.projects[u]; ok {
		return d.Plan.Projects[i]
	}
	return decide.ProjectPlan{}
}

// result returns what was decided for a result, and whether anything was.
func (d decision) result(key string) (decide.ResultPlan, bool) {
	if i, ok := d.results[key]; ok {
		return d.Plan.Results[i], true
	}
	return decide.ResultPlan{}, false
}

// decide makes a pass: the policies look and say what to do. Debts are taken over
// at once; the rest is for act.
func (a *Agent) decide(now time.Time) decision {
	a.account(now)
	s, urls, keys := a.look(now)
	a.tickUptime(now, !s.Compute.Denied(), !s.Network.Denied())
	d := decision{
		Record: decide.Record{Snapshot: s, Plan: decide.Pass(s)}, urls: urls, keys: keys,
		projects: make(map[string]int, len(urls)), results: make(map[string]int, len(keys)),
	}
	for i, u := range urls {
		d.projects[u] = i
		a.debts.of[u] = d.Plan.Projects[i].Debt
	}
	for i, key := range keys {
		d.results[key] = i
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
func (a *Agent) tell(before, d decision) {
	first := before.Snapshot.Now.IsZero()
	if now := d.Snapshot.Compute; first || now.Code != before.Snapshot.Compute.Code {
		a.log.Debug("computing", logflag.Key, logflag.Suspend, "allowed", !now.Denied(), "why", now.Why)
	}
	if now := d.Snapshot.Network; first || now.Code != before.Snapshot.Network.Code {
		a.log.Debug("network", logflag.Key, logflag.NetworkStatus, "allowed", !now.Denied(), "why", now.Why)
	}
	for i, u := range d.urls {
		if f := d.Plan.Projects[i].Fetch; before.project(u).Fetch.Code != f.Code {
			a.log.Debug("work fetch", logflag.Key, logflag.WorkFetch, "project", u, "decision", f.Code, "why", f.Text)
		}
	}
	for i, key := range d.keys {
		r := d.Plan.Results[i]
		if was, _ := before.result(key); was.Code != r.Code {
			a.log.Debug("scheduling", logflag.Key, logflag.CPUSchedDebug, "result", a.name(key), "decision", r.Code, "why", r.Text)
		}
	}
}

// name is a result's name, for the log.
func (a *Agent) name(key string) string {
	r, _ := a.db.Results.Get(key)
	return r.Name
}

// act starts and stops applications and begins sessions as a pass decided.
func (a *Agent) act(d decision, now time.Time) {
	a.allow(d)
	for i, key := range d.keys {
		if r, ok := a.db.Results.Get(key); ok {
			a.actOn(key, r, d.Snapshot.Results[i], d.Plan.Results[i], now)
		}
	}
	for i, u := range d.urls {
		p, ok := a.db.Projects.Get(u)
		if !ok {
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

func (a *Agent) actOn(key string, r state.Result, seen decide.Result, plan decide.ResultPlan, now time.Time) {
	if plan.GiveUp {
		a.move(key, r, state.AbortRequested, func(r *state.Result) {
			r.ExitStatus, r.Message = protocol.ExitUnstartedLate, "not started by its deadline"
			r.Stderr = errorReport(r.Message, "")
			r.Ready(now)
		})
		return
	}
	if seen.Phase != decide.Runnable || a.leaving[r.Project] {
		return
	}
	if plan.Urgent != r.Urgent {
		r.Urgent = plan.Urgent
		a.save(func(tx *state.Tx) { a.db.Results.Put(tx, key, r) })
	}
	switch {
	case plan.Run() && !seen.Running:
		a.start(key, r, now)
	case !plan.Run() && seen.Running:
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
