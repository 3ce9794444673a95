package agent

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// facts are what there is to see now. They are for use within the loop.
func (a *Agent) facts(now time.Time) *view.Facts {
	primary, others := a.platforms()
	f := &view.Facts{
		Now: now, Version: a.cfg.Version, DataDir: a.cfg.DataDir, Since: a.since, PID: os.Getpid(),
		Platforms: append([]string{primary}, others...), Bounded: a.bounded,
		Settings: a.settings, Layers: a.layers, Prefs: a.prefs, Accounts: a.accounts, Faults: a.faults,
		Host: a.host, Conditions: a.conditions(now), Times: a.timeStats(now), Disk: view.Disk{Free: -1, Used: -1},
		DB: a.db, Debts: a.debts.of, Used: a.debts.used, Elapsed: now.Sub(a.debts.settled), Last: a.last,
		Talking: make(map[string]view.Conversation), Letters: a.letters, Asked: a.asked, Old: a.old,
		Transfers: make(map[string]view.Transfer), Processes: make(map[string]view.Process),
	}
	if r := a.newer.found; r != nil {
		f.Newer = &control.Release{Version: r.Version, URL: r.URL}
	}
	if free, ok := hostinfo.DiskFree(a.cfg.DataDir); ok {
		f.Disk.Free = int64(free)
	}
	if !a.disk.measured.IsZero() {
		f.Disk.Used = a.disk.total
	}
	for u, t := range a.talking {
		f.Talking[u] = t.Conversation
	}
	for key, t := range a.moving {
		f.Transfers[key] = view.Transfer{File: t.file, Since: t.since, Bytes: t.bytes.Load()}
	}
	progress := a.exec.Progress()
	for task, run := range a.running {
		p := view.Process{Since: run.since, Paused: run.paused}
		if far, ok := progress[task]; ok {
			p.Progress = &far
		}
		f.Processes[run.key] = p
	}
	return f
}

// see shows what there is to see, as of one instant between two steps of the loop.
func see[V any](ctx context.Context, a *Agent, show func(*view.Facts) V) (v V, err error) {
	err = a.through(ctx, a.looks, func() error {
		v = show(a.facts(time.Now()))
		return nil
	})
	return v, err
}

// Status shows everything there is to see.
func (a *Agent) Status(ctx context.Context) (control.Status, error) {
	return see(ctx, a, (*view.Facts).Status)
}

// Dashboard is what the dashboard shows.
func (a *Agent) Dashboard(ctx context.Context) (view.Page, error) {
	return see(ctx, a, (*view.Facts).Dashboard)
}

// Tools is what BOINC's tools are shown.
func (a *Agent) Tools(ctx context.Context) (view.Tools, error) {
	v, err := see(ctx, a, (*view.Facts).Tools)
	if err != nil {
		return v, err
	}
	var used int64
	for i := range v.Projects {
		p := &v.Projects[i]
		p.Dir = a.projectDir(p.MasterURL)
		p.DiskUsed = a.sizes.of(p.Dir)
		used += p.DiskUsed
	}
	v.DiskUsed = max(0, a.sizes.of(a.cfg.DataDir)-used)
	v.DiskMay = v.Prefs.Disk(int64(v.Host.DiskTotal), int64(v.Host.DiskFree), v.DiskUsed+used)
	users := make([]prefs.DiskUser, len(v.Projects))
	for i, p := range v.Projects {
		users[i] = prefs.DiskUser{Share: p.Account.ResourceShare, Used: p.DiskUsed}
	}
	for i, share := range prefs.DiskShares(v.DiskMay, users) {
		v.Projects[i].DiskShare = share
	}
	return v, nil
}

// Prefs returns the computing preferences in force, with the origin of each.
func (a *Agent) Prefs(ctx context.Context) (prefs.Effective, error) {
	return see(ctx, a, func(f *view.Facts) prefs.Effective { return f.Prefs })
}

// PrefsOverride returns what tools changed of the preferences.
func (a *Agent) PrefsOverride(ctx context.Context) (prefs.Layer, error) {
	return see(ctx, a, (*view.Facts).Override)
}

// Decision makes a pass now and returns it: what was looked at, what was decided,
// and why everything else was not.
func (a *Agent) Decision(ctx context.Context) (r decide.Record, err error) {
	err = a.do(ctx, func() error {
		a.decide(time.Now())
		r = a.last.Record
		return nil
	})
	return r, err
}

// Logger writes to the agent's log: by the log flags, and kept for tools.
func (a *Agent) Logger() *slog.Logger { return a.log }

// Log returns the kept lines of the log with numbers above after; a negative one
// returns the last line alone.
func (a *Agent) Log(_ context.Context, after int) (control.Log, error) {
	return control.Log{Since: a.since, Messages: a.journal.After(after)}, nil
}

// keepOld remembers a reported result for tools, for a while.
func (a *Agent) keepOld(r state.Result, now time.Time) {
	u, _ := a.db.Units.Get(state.Key(r.Project, r.WorkunitName))
	for len(a.old) > 0 && now.Sub(a.old[0].Created) >= view.OldKept {
		a.old = a.old[1:]
	}
	a.old = append(a.old, view.OldResult{
		Project: r.Project, Name: r.Name, App: u.AppName, ExitStatus: r.ExitStatus,
		Elapsed: r.Elapsed, CPUTime: r.CPUTime, Completed: r.Completed, Created: now,
	})
}
