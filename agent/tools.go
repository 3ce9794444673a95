package agent

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/control/guirpc"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
	"github.com/starling-grid/starling/state"
)

// oldResultsKept is for how long reported results are shown.
const oldResultsKept = time.Hour

// View is what BOINC's tools are shown.
func (a *Agent) View(ctx context.Context) (v guirpc.View, err error) {
	err = a.do(ctx, func() error {
		v = a.view(time.Now())
		return nil
	})
	if err != nil {
		return v, err
	}
	var used int64
	for i := range v.Projects {
		v.Projects[i].DiskUsed = a.sizes.of(v.Projects[i].Dir)
		used += v.Projects[i].DiskUsed
	}
	v.DiskUsed = max(0, a.sizes.of(a.cfg.DataDir)-used)
	v.DiskMay = v.Prefs.Disk(int64(v.Host.DiskTotal), int64(v.Host.DiskFree), v.DiskUsed+used)
	return v, nil
}

func (a *Agent) view(now time.Time) guirpc.View {
	primary, others := a.platforms()
	h, _ := a.db.Hosts.Get(state.Self)
	v := guirpc.View{
		Now: now, Settings: a.settings, Version: a.cfg.Version, Platforms: append([]string{primary}, others...), DataDir: a.cfg.DataDir, Since: a.since,
		Host: a.host, Times: a.timeStats(now), Prefs: a.prefs, Web: h.Prefs.XML, RunMode: h.RunMode, NetMode: h.NetMode,
		Compute: a.last.Snapshot.Compute, Network: a.last.Snapshot.Network, Traffic: h.Traffic,
	}
	if r := a.newer.found; r != nil {
		v.Newer = control.Release{Version: r.Version, URL: r.URL}
	}
	v.Manager, _ = a.db.Managers.Get(state.Self)
	for _, l := range a.layers {
		if filepath.Base(l.Origin) == settings.PrefsOverrideFile {
			v.Override = l
		}
	}
	for u, p := range a.db.Projects.All() {
		v.Projects = append(v.Projects, a.viewProject(u, p))
	}
	for key, f := range a.wantedFiles() {
		p, _ := a.db.Projects.Get(f.Project)
		x := guirpc.Transfer{File: f, ProjectName: p.Name}
		if t := a.moving[key]; t != nil {
			x.Active, x.Bytes, x.Since = true, t.bytes.Load(), t.since
		}
		v.Transfers = append(v.Transfers, x)
	}
	for _, o := range a.old {
		if now.Sub(o.Created) < oldResultsKept {
			v.Old = append(v.Old, o)
		}
	}
	return v
}

func (a *Agent) viewProject(u string, p state.Project) guirpc.Project {
	v := guirpc.Project{
		Project: p, Account: a.accounts[u], Leaving: a.leaving[u], Talking: a.talking[u], Dir: a.projectDir(u),
	}
	v.Debt = a.debts.of[u]
	for _, x := range a.db.Apps.Of(u) {
		v.Apps = append(v.Apps, x.App)
	}
	for _, x := range a.db.Versions.Of(u) {
		v.Versions = append(v.Versions, x.AppVersion)
	}
	for _, x := range a.db.Units.Of(u) {
		v.Units = append(v.Units, x.Workunit)
	}
	progress := a.progress()
	for key, r := range a.db.Results.Of(u) {
		x := guirpc.Result{Result: r, Active: r.Slot != state.NoSlot, Progress: progress[taskID(r)]}
		if run := a.running[taskID(r)]; run != nil {
			x.Process, x.Scheduled = true, !run.paused
		}
		if plan, ok := a.last.result(key); ok {
			x.Remaining, x.Why = plan.Remaining, plan.Text
			x.Waiting = a.last.Snapshot.Results[a.last.results[key]].Phase == decide.Runnable && plan.Code != jobsched.NoCPU && plan.Code != jobsched.Stopped
		}
		v.Results = append(v.Results, x)
	}
	return v
}

// SteerTransfer tries a transfer again now, or gives its file up.
func (a *Agent) SteerTransfer(ctx context.Context, project, name string, abort bool) error {
	return a.do(ctx, func() error {
		key := state.Key(project, name)
		f, ok := a.wantedFiles()[key]
		if !ok {
			return errors.New("No such file") //nolint:staticcheck // tools compare the text
		}
		if t := a.moving[key]; t != nil && abort {
			t.cancel()
		}
		f.NextTry = time.Time{}
		if abort {
			f.Local, f.Error = state.FileFailed, "aborted by user"
		}
		return a.db.Update(func(tx *state.Tx) { a.db.Files.Put(tx, key, f) })
	})
}

// Attach makes an account file and makes contact.
func (a *Agent) Attach(ctx context.Context, masterURL string, key protocol.Authenticator) error {
	acc := settings.Account{MasterURL: masterURL, Authenticator: key, ResourceShare: 100}
	if err := settings.WriteAccount(a.cfg.DataDir, acc); err != nil {
		return err
	}
	_ = a.Reload(ctx) // what is wrong with other files is logged, and in Status
	return nil
}

// Detach removes an account file; its tasks are given up.
func (a *Agent) Detach(ctx context.Context, masterURL string) error {
	if err := settings.RemoveAccount(a.cfg.DataDir, masterURL); err != nil {
		return err
	}
	_ = a.Reload(ctx) // what is wrong with other files is logged, and in Status
	return nil
}

// ProjectConfig asks a project about itself.
func (a *Agent) ProjectConfig(ctx context.Context, masterURL string) (*protocol.ProjectConfig, error) {
	return a.sched.ProjectConfig(ctx, masterURL)
}

// LookupAccount asks a project for the key of an account.
func (a *Agent) LookupAccount(ctx context.Context, masterURL, email, passwdHash string) (protocol.Authenticator, error) {
	return a.sched.LookupHash(ctx, masterURL, email, passwdHash)
}

// CreateAccount makes an account at a project.
func (a *Agent) CreateAccount(ctx context.Context, masterURL, email, passwdHash, name string) (protocol.Authenticator, error) {
	return a.sched.CreateAccount(ctx, masterURL, schedulerop.NewAccount{Email: email, PasswdHash: passwdHash, Name: name})
}

// SetPrefsOverride makes l what tools changed of the preferences, and has them
// read again.
func (a *Agent) SetPrefsOverride(ctx context.Context, l prefs.Layer) error {
	if err := settings.WritePrefsOverride(a.cfg.DataDir, l); err != nil {
		return err
	}
	return a.Reload(ctx)
}

// Benchmark measures the computer again, while tasks go on.
func (a *Agent) Benchmark(ctx context.Context) error {
	s := hostinfo.Measure()
	return a.do(ctx, func() error {
		h, _ := a.db.Hosts.Get(state.Self)
		h.Fpops, h.Iops, h.Measured = s.Fpops, s.Iops, time.Now()
		a.host.Fpops, a.host.Iops, a.host.Calculated = h.Fpops, h.Iops, h.Measured
		a.log.Info("computer measured", "gflops_per_cpu", s.Fpops/1e9, "giops_per_cpu", s.Iops/1e9)
		return a.db.Update(func(tx *state.Tx) { a.db.Hosts.Put(tx, state.Self, h) })
	})
}

// Quit ends Run.
func (a *Agent) Quit() {
	a.log.Info("a tool asked the agent to end")
	a.quit()
}

// keepOld remembers a reported result for tools, for a while.
func (a *Agent) keepOld(r state.Result, now time.Time) {
	u, _ := a.db.Units.Get(state.Key(r.Project, r.WorkunitName))
	for len(a.old) > 0 && now.Sub(a.old[0].Created) >= oldResultsKept {
		a.old = a.old[1:]
	}
	a.old = append(a.old, guirpc.OldResult{
		Project: r.Project, Name: r.Name, App: u.AppName, ExitStatus: r.ExitStatus,
		Elapsed: r.Elapsed, CPUTime: r.CPUTime, Completed: r.Completed, Created: now,
	})
}

// countTraffic adds to the bytes of the day.
func (a *Agent) countTraffic(tx *state.Tx, bytes int64, upload bool, now time.Time) {
	h, ok := a.db.Hosts.Get(state.Self)
	if !ok || bytes == 0 {
		return
	}
	h.Traffic = state.AddTraffic(h.Traffic, now, float64(bytes), upload)
	a.db.Hosts.Put(tx, state.Self, h)
}

// folderSizes remembers how large folders are, since tools ask often.
type folderSizes struct {
	guard chan struct{} // holds one token
	known map[string]folderSize
}

type folderSize struct {
	bytes int64
	at    time.Time
}

// sizeAge is how old an answer may be.
const sizeAge = 30 * time.Second

func newFolderSizes() *folderSizes {
	f := &folderSizes{make(chan struct{}, 1), make(map[string]folderSize)}
	f.guard <- struct{}{}
	return f
}

// of returns how many bytes the files below a folder take, as of half a minute
// ago at most.
func (f *folderSizes) of(dir string) int64 {
	<-f.guard
	defer func() { f.guard <- struct{}{} }()
	if s := f.known[dir]; time.Since(s.at) < sizeAge {
		return s.bytes
	}
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what has gone meanwhile takes nothing
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	f.known[dir] = folderSize{sum, time.Now()}
	return sum
}
