package api

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/beat"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/state"
)

// Facts returns the current facts. They are for use within the loop.
func (a *API) Facts(now time.Time) *view.Facts {
	c, p := a.core, a.parts
	primary, others := c.Platforms()
	f := &view.Facts{
		Now: now, Version: c.Version, DataDir: c.Dir, Since: c.Since, PID: os.Getpid(),
		Platforms: append([]string{primary}, others...), Bounded: p.Bounded, Unusable: p.Unusable, Images: c.Images, NoImages: p.NoImages, NoCPUs: p.NoCPUs, Wakeups: beat.Wakes(),
		Settings: c.Settings, Layers: c.Layers, Prefs: c.Prefs, Accounts: c.Accounts, Faults: c.Faults,
		Host: c.Host, Coprocs: c.Coprocs, Measured: p.Presence.Gauge.Measured(), Conditions: p.Presence.Conditions(now), Times: p.Uptime.Stats(now), Habit: p.Uptime.Habit(), Disk: view.Disk{Free: -1, Used: p.Disk.Total()},
		DB: c.DB, Debts: p.Ledger.Of, Used: p.Ledger.Used, Elapsed: p.Ledger.Elapsed(now), Last: c.Last,
		Sessions: a.talk.Sessions(), TrickleUps: a.life.TrickleUps(), Asked: a.talk.Asked(), Woken: a.talk.Woken(), Ahead: a.talk.Ahead(now), RecentlyReported: a.talk.RecentlyReported(),
		Transfers: p.Files.Transfers(), Processes: a.life.Processes(),
	}
	f.Drain, f.Finishes = a.life.Draining()
	f.Powers, f.Drawn = p.Powers.All(), p.Ledger.Energy.Drawn
	if r := a.talk.Newer(); r != nil {
		f.Newer = &control.Release{Version: r.Version, URL: r.URL}
	}
	if err := c.DB.NotSaved(); err != nil {
		o := core.Obstacle(err)
		f.NotSaved = words.And(words.T("The agent cannot save its state, so it starts no task and contacts no project."), words.Or(o.Text(now), words.Plain(sysfault.Plain(err)+".")))
		f.NotSavedCure = words.Or(o.Cure(""), words.T("Run starling doctor."))
	}
	if free, ok := hostinfo.DiskFree(c.Dir); ok {
		f.Disk.Free = int64(free)
	}
	return f
}

// query shows what there is to see, as of one instant between two steps of the loop.
func query[V any](ctx context.Context, a *API, show func(*view.Facts) V) (v V, err error) {
	err = a.core.See(ctx, func() {
		a.life.Exec.Watch()
		f := a.Facts(time.Now())
		f.Language = words.LanguageOf(ctx)
		v = show(f)
	})
	return v, err
}

// Status shows everything there is to see.
func (a *API) Status(ctx context.Context) (control.Status, error) {
	return query(ctx, a, (*view.Facts).Status)
}

// Dashboard returns the content of the dashboard. If the last look was long ago, the disk use is
// measured again for the next look.
func (a *API) Dashboard(ctx context.Context) (view.Page, error) {
	stale := false
	v, err := query(ctx, a, func(f *view.Facts) view.Page {
		v, disk := f.Dashboard(), a.parts.Disk
		stale = disk.Stale(f.Now)
		v.Disk.Allowed = disk.Allowed()
		for u := range v.Plans {
			v.Disk.Projects[u] = disk.Of(u)
		}
		for _, x := range a.parts.Presence.Heat.Steps() {
			v.Heat = append(v.Heat, view.Heat(x))
		}
		for _, x := range a.parts.Presence.Gauge.Heat.Steps() {
			v.GPUHeat = append(v.GPUHeat, view.Heat(x))
		}
		return v
	})
	if err == nil && stale {
		a.core.Post(usage.DiskWanted{})
	}
	return v, err
}

// maxStderr is the maximum part of a process's output that is shown, in bytes.
const maxStderr = 16 << 10

// Task returns everything about one task, with the end of its process's output so far. It returns
// control.ErrNoTask if there is no such task.
func (a *API) Task(ctx context.Context, project, name string) (view.Task, error) {
	found := false
	t, err := query(ctx, a, func(f *view.Facts) (t view.Task) {
		t, found = f.Task(project, name)
		return t
	})
	if err == nil && !found {
		err = words.Explain(control.ErrNoTask, words.T("no such task: {task}; it may have been reported", "task", name))
	}
	if err == nil && t.Stderr == "" && t.Slot != state.NoSlot {
		t.Stderr = a.written(t.Slot)
	}
	t.Stderr = bxml.Printable(strings.ToValidUTF8(t.Stderr[max(0, len(t.Stderr)-maxStderr):], ""), maxStderr)
	return t, err
}

// written returns the end of the stderr output of the process in a slot, or "" if it cannot be
// read.
func (a *API) written(slot int) string {
	root, err := foreigndir.OpenRoot(a.core.Dir, core.SlotsDir+"/"+strconv.Itoa(slot))
	if err != nil {
		return ""
	}
	defer root.Close()
	b, _ := foreigndir.Tail(root, appipc.StderrFile, maxStderr)
	return string(b)
}

// Tools returns the data for BOINC's tools. If the last look was long ago, the disk use is measured
// again for the next look.
func (a *API) Tools(ctx context.Context) (view.Tools, error) {
	stale := false
	v, err := query(ctx, a, func(f *view.Facts) view.Tools {
		v, disk := f.Tools(), a.parts.Disk
		stale = disk.Stale(f.Now)
		v.DiskUsed, v.DiskMay = max(0, disk.Total()), disk.Allowed()
		for i := range v.Projects {
			p := &v.Projects[i]
			d := disk.Report(p.MasterURL, f.Now)
			p.Dir, p.DiskUsed, p.DiskShare = a.core.ProjectDir(p.MasterURL), int64(d.UsedProject), int64(d.ProjectShare)
			v.DiskUsed -= p.DiskUsed
		}
		return v
	})
	if err == nil && stale {
		a.core.Post(usage.DiskWanted{})
	}
	return v, err
}

// Notices returns the announcements of a project, or of all projects for "", the newest first.
func (a *API) Notices(ctx context.Context, masterURL string) ([]control.Notice, error) {
	return query(ctx, a, func(f *view.Facts) []control.Notice { return f.Notices(masterURL) })
}

// Prefs returns the computing preferences in force, with the origin of each.
func (a *API) Prefs(ctx context.Context) (prefs.Effective, error) {
	return query(ctx, a, func(f *view.Facts) prefs.Effective { return f.Prefs })
}

// PrefsOverride returns what tools changed of the preferences.
func (a *API) PrefsOverride(ctx context.Context) (prefs.Layer, error) {
	return query(ctx, a, (*view.Facts).Override)
}

// Decision makes a pass now and returns it: the snapshot, the decisions, and the reasons against
// everything else.
func (a *API) Decision(ctx context.Context) (r decide.Record, err error) {
	err = a.core.Do(ctx, func() error {
		r = a.parts.Pass(time.Now()).In(words.LanguageOf(ctx))
		return nil
	})
	return r, err
}

// Logger writes to the agent's log: by the log flags, and kept for tools.
func (a *API) Logger() *slog.Logger { return a.core.Log }

// Log returns the kept lines of the log with numbers above after. A negative number returns the
// last line alone.
func (a *API) Log(_ context.Context, after int) (control.Log, error) {
	return control.Log{Since: a.core.Since, Messages: a.parts.Journal.After(after)}, nil
}
