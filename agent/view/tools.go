package view

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/decide/notices"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// OldKept is for how long reported results are shown.
const OldKept = time.Hour

// Tools is all that BOINC's tools are shown, as of one instant.
type Tools struct {
	Now       time.Time
	Version   string
	Platforms []string // the first is the primary one
	DataDir   string
	Since     time.Time

	Settings settings.Settings
	Newer    control.Release // "" if none is known

	Host     protocol.HostInfo
	Coprocs  []protocol.Coproc
	Times    protocol.TimeStats
	Prefs    prefs.Effective
	Web      string // preferences of a project's web site, raw
	Override prefs.Layer
	Compute  prefs.Permission
	Network  prefs.Permission
	RunMode  prefs.Mode
	NetMode  prefs.Mode
	GPUMode  prefs.Mode
	GPUs     prefs.Permission // may tasks use coprocessors?

	Manager          state.Manager
	Projects         []ToolsProject
	Transfers        []ToolsTransfer
	RecentlyReported []OldResult
	Notices          []ToolsNotice // the oldest first
	Traffic          []state.Traffic
	Up, Down         state.Line
	DiskUsed         int64 // bytes, of everything but the projects' folders
	DiskMay          int64 // bytes that may be used in all
}

// A ToolsProject is a project with all that belongs to it.
type ToolsProject struct {
	state.Project
	Account   settings.Account
	Session   string // subject of a session in progress ("" without one)
	Dir       string
	DiskUsed  int64 // bytes
	DiskShare int64 // bytes that it may take
	Apps      []protocol.App
	Versions  []protocol.AppVersion
	Units     []protocol.Workunit
	Results   []ToolsResult
}

// A ToolsNotice is a project's announcement.
type ToolsNotice struct {
	notices.Notice
	ProjectName string
}

// A ToolsResult is a result and its current state.
type ToolsResult struct {
	state.Result
	Active    bool // it has a slot
	Process   bool // it has a process
	Scheduled bool // it runs
	Progress  executor.Progress
	Remaining time.Duration
	Why       string // why it does not run
	Resources string // the resources that it uses, if not only CPUs
	Waiting   bool   // it waits for something other than a CPU or computing to resume (see Why)
}

// A ToolsTransfer is a file on its way.
type ToolsTransfer struct {
	state.File
	ProjectName string
	Active      bool
	Bytes       int64
	Since       time.Time
}

// An OldResult is a result that was reported within the last hour.
type OldResult struct {
	Project, Name, App string
	ExitStatus         int
	Elapsed, CPUTime   time.Duration
	Completed, Created time.Time
}

// Tools returns the data for BOINC's tools, except for folders and their sizes.
func (f *Facts) Tools() Tools {
	h := f.host()
	v := Tools{
		Now: f.Now, Settings: f.Settings, Version: f.Version, Platforms: f.Platforms, DataDir: f.DataDir, Since: f.Since,
		Host: f.toolsHost(), Coprocs: f.Coprocs.Coprocs(), Times: f.Times, Prefs: f.Prefs, Web: h.Prefs.XML, RunMode: h.RunMode, NetMode: h.NetMode, GPUMode: h.GPUMode, GPUs: f.Prefs.MayUseGPUs(f.Conditions, h.GPUMode),
		Compute: f.Last.Snapshot.Compute, Network: f.Last.Snapshot.Network, Traffic: h.Traffic, Up: h.Up, Down: h.Down, Override: f.Override(),
	}
	if f.Newer != nil {
		v.Newer = *f.Newer
	}
	v.Manager, _ = f.DB.Managers.Get(state.Self)
	for u, p := range f.DB.Projects.All() {
		if p.Ending.Kind == state.Detaching { // for tools it is gone, since they cannot undo that
			continue
		}
		v.Projects = append(v.Projects, f.toolsProject(u, p))
	}
	for _, w := range f.DB.Wanted() {
		p, _ := f.DB.Projects.Get(w.Project)
		if p.Ending.Leaves() {
			continue
		}
		x := ToolsTransfer{File: w.File, ProjectName: p.Name}
		if t, moves := f.Transfers[w.Key]; moves {
			x.Active, x.Bytes, x.Since = true, t.Bytes, t.Since
		}
		v.Transfers = append(v.Transfers, x)
	}
	for _, n := range f.announced("") {
		p, _ := f.DB.Projects.Get(n.Project)
		v.Notices = append(v.Notices, ToolsNotice{n, p.Name})
	}
	slices.SortFunc(v.Notices, func(a, b ToolsNotice) int { return cmp.Compare(a.Seqno, b.Seqno) })
	for _, o := range f.RecentlyReported {
		if f.Now.Sub(o.Created) < OldKept {
			v.RecentlyReported = append(v.RecentlyReported, o)
		}
	}
	return v
}

// Override returns the tools' changes to the preferences.
func (f *Facts) Override() (l prefs.Layer) {
	for _, layer := range f.Layers {
		if filepath.Base(layer.Origin) == settings.PrefsOverrideFile {
			l = layer
		}
	}
	return l
}

func (f *Facts) toolsProject(u string, p state.Project) ToolsProject {
	v := ToolsProject{
		Project: p, Account: f.Accounts[u], Session: f.Sessions[u].About.String(),
	}
	v.Debt = f.Debts[u]
	if p.Ending.Leaves() {
		return v
	}
	for _, x := range f.DB.Apps.Of(u) {
		v.Apps = append(v.Apps, x.App)
	}
	for _, x := range f.DB.Versions.Of(u) {
		v.Versions = append(v.Versions, x.AppVersion)
	}
	for _, x := range f.DB.Units.Of(u) {
		v.Units = append(v.Units, x.Workunit)
	}
	for key, r := range f.DB.Results.Of(u) {
		x := ToolsResult{Result: r, Active: r.Slot != state.NoSlot, Resources: f.resources(key, r)}
		if run, ok := f.Processes[key]; ok {
			x.Process, x.Scheduled = true, !run.Paused
			if run.Progress != nil {
				x.Progress = *run.Progress
			}
		}
		if seen, plan, ok := f.Last.Result(r.Project, r.Name); ok {
			x.Remaining, x.Why = plan.Remaining, plan.Text.String()
			x.Waiting = seen.Phase == decide.Runnable && plan.Code != reason.NoCPU && plan.Code != reason.NoGPU && plan.Code != reason.ComputingSuspended
		}
		v.Results = append(v.Results, x)
	}
	return v
}

// toolsHost returns the computer's description, with the coprocessors that tasks may use.
func (f *Facts) toolsHost() protocol.HostInfo {
	h := f.Host
	for _, p := range f.Coprocs.Pools(h.Fpops) {
		h.Coprocs += len(p.Devices)
	}
	return h
}
