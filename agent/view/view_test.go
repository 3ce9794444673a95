package view_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
)

const project = "http://p.example/"

var (
	now  = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	unit = state.Key(project, "w")
	key  = state.Key(project, "r")
)

// facts returns the facts about an agent with one result, r of workunit w, whose input is a file
// in.
func facts(t *testing.T, r state.Result, in state.File) *view.Facts {
	t.Helper()
	db := statetest.Open(t, t.TempDir())
	r.Project, r.Name, r.WorkunitName = project, "r", "w"
	in.Project, in.Name = project, "in"
	u := state.Workunit{Project: project, Workunit: protocol.Workunit{Name: "w", AppName: "app", RscFpopsEst: 1e12, FileRefs: []protocol.FileRef{{FileName: "in"}}}}
	statetest.Update(t, db, func(tx *state.Tx) {
		db.Projects.Put(tx, project, state.Project{MasterURL: project, Name: "P"})
		db.Units.Put(tx, unit, u)
		db.Results.Put(tx, key, r)
		db.Files.Put(tx, state.Key(project, "in"), in)
	})
	f := &view.Facts{
		Now: now, PID: 7, DB: db, Prefs: prefs.Merge(), Disk: view.Disk{Free: -1, Used: -1},
		Host:     protocol.HostInfo{NCPUs: 4, Fpops: 1e9},
		Accounts: map[string]settings.Account{project: {MasterURL: project, ResourceShare: 100}},
	}
	f.Last = decide.Decide(f.Snapshot())
	return f
}

func TestStatusSaysWhyATaskIsNotFurther(t *testing.T) {
	waiting := state.Retry{Failures: 1, NextTry: now.Add(time.Hour)}
	for _, c := range []struct {
		name string
		r    state.Result
		in   state.File
		run  view.Process
		want string
	}{
		{
			name: "a file has to be waited for", r: state.Result{State: protocol.ClientDownloading, Slot: state.NoSlot},
			in: state.File{Error: "download in (http://p.example/in): no route to host", Retry: waiting}, want: "Waiting for its input files. The transfer failed. Trying in again at 13:00.",
		},
		{
			name: "the cause is known", r: state.Result{State: protocol.ClientDownloading, Slot: state.NoSlot},
			in: state.File{Error: "write in: no space left", Obstacle: reason.Reason{Code: "disk_full"}, Retry: waiting}, want: "Waiting for its input files. This computer's disk is full. Trying in again at 13:00.",
		},
		{
			name: "a file whose time has come is no trouble", r: state.Result{State: protocol.ClientDownloading, Slot: state.NoSlot},
			in: state.File{Error: "no route to host", Obstacle: reason.Reason{Code: "disk_full"}, Retry: state.Retry{NextTry: now}}, want: "Waiting for its input files.",
		},
		{
			name: "one that failed is reported", r: state.Result{State: protocol.ClientComputeError, Slot: state.NoSlot, ReadyToReport: true, ExitStatus: 3, Message: "exit status 3"},
			want: "Failed: its application reported an error (exit status 3). It will be reported at the next contact.",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := facts(t, c.r, c.in).Status()
			if len(s.Tasks) != 1 || s.Tasks[0].Why != c.want {
				t.Errorf("got %+v, want why %q", s.Tasks, c.want)
			}
			if !s.Running || s.PID != 7 || len(s.Projects) != 1 || s.Projects[0].Tasks != 1 {
				t.Errorf("got %+v", s)
			}
		})
	}
}

// All views agree on a task that runs.
func TestViewsAgreeOnARunningTask(t *testing.T) {
	f := facts(t, state.Result{State: protocol.ClientDownloaded}, state.File{Local: state.FilePresent})
	f.Processes = map[string]view.Process{key: {
		Since:    now.Add(-time.Minute),
		Progress: &executor.Progress{PID: 42, Fraction: 0.25, Elapsed: time.Minute, CPUTime: 50 * time.Second},
	}}
	s := f.Snapshot().Results[0]
	if !s.Running || s.Ran != time.Minute || s.Fraction != 0.25 || !s.Unsaved || s.Stated != 1000*time.Second {
		t.Errorf("policies see %+v", s)
	}
	if task := f.Status().Tasks[0]; !task.Running || task.PID != 42 || task.Fraction != 0.25 || task.CPUTime != 50 {
		t.Errorf("people see %+v", task)
	}
	if r := f.Tools().Projects[0].Results[0]; !r.Process || !r.Scheduled || r.Progress.PID != 42 {
		t.Errorf("tools see %+v", r)
	}
	f.Processes[key] = view.Process{Since: now, Paused: true, Progress: &executor.Progress{PID: 42, Suspended: true}}
	if f.Snapshot().Results[0].Running || f.Status().Tasks[0].Running || f.Tools().Projects[0].Results[0].Scheduled {
		t.Error("a paused task is seen to run")
	}
}

// A project may want the memory that a task may need to be free, although it uses less now.
func TestMemoryOfARunningTask(t *testing.T) {
	f := facts(t, state.Result{State: protocol.ClientDownloaded}, state.File{Local: state.FilePresent})
	f.Processes = map[string]view.Process{key: {Since: now, Progress: &executor.Progress{PID: 42, WorkingSet: 10e6}}}
	for strict, want := range map[bool]int64{false: 10e6, true: 500e6} {
		statetest.Update(t, f.DB, func(tx *state.Tx) {
			f.DB.Projects.Put(tx, project, state.Project{MasterURL: project, StrictMemory: strict})
			u, _ := f.DB.Units.Get(unit)
			u.RscMemoryBound = 500e6
			f.DB.Units.Put(tx, unit, u)
		})
		if got := f.Snapshot().Results[0].Memory; got != want {
			t.Errorf("strict %v: policies reckon with %d bytes, want %d", strict, got, want)
		}
	}
}

// A task that needs the network waits while the network may not be used, and gives that reason.
func TestATaskThatNeedsTheNetwork(t *testing.T) {
	f := facts(t, state.Result{State: protocol.ClientDownloaded, Version: "v"}, state.File{Local: state.FilePresent})
	for mode, want := range map[prefs.ModeKind]reason.Code{prefs.Never: reason.NoNetwork, prefs.Always: reason.RunDebt} {
		statetest.Update(t, f.DB, func(tx *state.Tx) {
			f.DB.Versions.Put(tx, "v", state.AppVersion{Project: project, AppVersion: protocol.AppVersion{AppName: "app", NeedsNetwork: true}})
			f.DB.Hosts.Put(tx, state.Self, state.Host{NetMode: prefs.Mode{Kind: mode}, RunMode: prefs.Mode{Kind: prefs.Always}})
		})
		if r := decide.Decide(f.Snapshot()).Plan.Results[0]; r.Code != want {
			t.Errorf("with the network %v: %+v", mode, r)
		}
	}
}

// A task needs little CPU time if its application or its project claims so. Unless it computes on a
// coprocessor, it then runs while other tasks fill the CPUs.
func TestATaskThatNeedsLittleCPUTime(t *testing.T) {
	for _, c := range []struct {
		name         string
		app, project bool
		coproc       string
		light        resource.Light
		want         bool
		overuse      float64
	}{
		{"an ordinary one", false, false, "", resource.Light{}, false, 0},
		{"by its application", true, false, "", resource.Light{CPUs: 0.2}, true, 0},
		{"by its project", false, true, "", resource.Light{}, true, 0},
		{"on a coprocessor", true, true, "NVIDIA", resource.Light{}, false, 0},
		{"that does not", false, true, "", resource.Light{CPUs: 0.9, Overused: true}, false, 0.9},
		{"an ordinary one beside that", false, false, "", resource.Light{CPUs: 0.9, Overused: true}, false, 0},
	} {
		f := facts(t, state.Result{State: protocol.ClientDownloaded, Version: "v"}, state.File{Local: state.FilePresent})
		statetest.Update(t, f.DB, func(tx *state.Tx) {
			f.DB.Apps.Put(tx, state.Key(project, "app"), state.App{Project: project, App: protocol.App{Name: "app", NonCPUIntensive: c.app}})
			f.DB.Projects.Put(tx, project, state.Project{MasterURL: project, NonCPUIntensive: c.project, Light: c.light})
			f.DB.Versions.Put(tx, "v", state.AppVersion{Project: project, AppVersion: protocol.AppVersion{AppName: "app", Coproc: c.coproc, AvgNCPUs: 0.01}})
		})
		s := f.Snapshot()
		if got := s.Results[0]; got.NonCPUIntensive != c.want || got.Overuse != c.overuse || (got.CPUs >= 1) != (c.overuse > 0) || s.Projects[0].NonCPUIntensive != (c.project && c.overuse == 0) {
			t.Errorf("%s: got %+v", c.name, s)
		}
	}
}

func TestNothingIsComputedOnAFullDisk(t *testing.T) {
	f := facts(t, state.Result{State: protocol.ClientDownloaded}, state.File{Local: state.FilePresent})
	f.Host.DiskTotal = 100e9
	for _, c := range []struct {
		name string
		disk view.Disk
		want reason.Code
	}{
		{"nothing is known", view.Disk{Free: -1, Used: -1}, ""},
		{"not measured yet", view.Disk{Free: 0, Used: -1}, ""},
		{"there is room", view.Disk{Free: 90e9, Used: 1e9}, ""},
		{"there is none", view.Disk{Free: 0, Used: 1e9}, reason.DiskFull},
	} {
		f.Disk = c.disk
		if got := f.Snapshot().Compute.Code; got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// The reason of a running task mentions it if it cannot be in time. The amount of work that a
// shutdown would lose is known at any time.
func TestLatenessAndWhatAShutdownLoses(t *testing.T) {
	late := state.Result{State: protocol.ClientDownloaded, Started: now}
	late.ReportDeadline = now.Add(10 * time.Minute)
	f := facts(t, late, state.File{Local: state.FilePresent})
	if s := f.Status(); s.Unsaved != 0 {
		t.Errorf("nothing runs, and %v s would be lost", s.Unsaved)
	}
	run := executor.Progress{PID: 42, Elapsed: time.Minute, CheckpointElapsed: 20 * time.Second}
	f.Processes = map[string]view.Process{key: {Since: now.Add(-time.Minute), Progress: &run}}
	f.Last = decide.Decide(f.Snapshot())
	s := f.Status()
	// 1000 s in all, one minute of it done, with 600 s left.
	if task := s.Tasks[0]; task.Late != 340 || task.Why != "Running. It will be about 5 min 40 s late." || task.Unsaved != 40 || s.Unsaved != 40 {
		t.Errorf("got %+v, in all %v s unsaved", task, s.Unsaved)
	}
	if lost := f.Last.Snapshot.Results[0].Lost; lost != 40*time.Second {
		t.Errorf("policies see %v", lost)
	}
	run.WithoutCheckpoint = true // it starts from the beginning
	if s := f.Status(); s.Unsaved != 60 {
		t.Errorf("%v s would be lost of a task that never saved", s.Unsaved)
	}
	in := state.Result{State: protocol.ClientDownloaded}
	in.ReportDeadline = now.Add(time.Hour)
	if task := facts(t, in, state.File{Local: state.FilePresent}).Status().Tasks[0]; task.Late != 0 {
		t.Errorf("in time, and %v s late", task.Late)
	}
}

// The status names the source that finds the computer in use.
func TestUseOfTheComputer(t *testing.T) {
	f := facts(t, state.Result{}, state.File{})
	for _, tt := range []struct {
		c    prefs.Conditions
		want string
	}{
		{prefs.Conditions{}, ""},
		{prefs.Conditions{IdleKnown: true, Idle: time.Second, IdleBy: "X11"}, "in use, as reported by X11"},
		{prefs.Conditions{IdleKnown: true, Idle: 4*time.Minute + time.Second, IdleBy: "the helper in the session of anna (Wayland)"}, "idle for 4 min, as reported by the helper in the session of anna (Wayland)"},
	} {
		f.Conditions = tt.c
		if s := f.Status(); s.Presence != tt.want || f.Snapshot().Presence.String() != tt.want {
			t.Errorf("got %q, and starling why %q, want %q", s.Presence, f.Snapshot().Presence, tt.want)
		}
	}
}

// A limit without effect is reported, once it is known what can be sensed.
func TestPreferencesWithoutEffect(t *testing.T) {
	f := facts(t, state.Result{}, state.File{})
	f.Prefs.TemperatureCeiling, f.Since = 70, now
	if s := f.Status(); len(s.NoEffect) > 0 {
		t.Errorf("at the start: %q", s.NoEffect)
	}
	f.Since = now.Add(-time.Minute)
	if s := f.Status(); len(s.NoEffect) != 1 || !strings.HasPrefix(s.NoEffect[0], "max_cpu_temperature has no effect") || f.Snapshot().NoEffect[0].String() != s.NoEffect[0] {
		t.Errorf("got %q, and starling why %q", s.NoEffect, f.Snapshot().NoEffect)
	}
	f.Conditions.Temperature = 50
	if s := f.Status(); len(s.NoEffect) > 0 {
		t.Errorf("with a sensor: %q", s.NoEffect)
	}
}

// TestAFullDiskNamesThePreference: of three that limit the disk, the one that binds.
func TestAFullDiskNamesThePreference(t *testing.T) {
	f := facts(t, state.Result{Slot: state.NoSlot}, state.File{})
	f.Host.DiskTotal, f.Disk = 100<<30, view.Disk{Used: 3 << 30, Free: 50 << 30}
	f.Prefs.DiskMaxUsedGB = 2
	s := f.Snapshot()
	want := "The projects' files use 3 GB of disk space, but the preferences allow 2 GB (disk_max_used_gb = 2)."
	if s.Compute.Cure.String() != "Set disk_max_used_gb higher." || s.Compute.Code != reason.DiskFull || s.Compute.Why.String() != want || s.Disk.Key != "disk_max_used_gb" {
		t.Errorf("got %+v, %+v, want %q", s.Compute, s.Disk, want)
	}
	f.Disk.Used = 1 << 30
	if s := f.Snapshot(); s.Compute.Denied() || s.Disk.Key != "disk_max_used_gb" {
		t.Errorf("with less: %+v, %+v", s.Compute, s.Disk)
	}
}

// An empty list is still a list in JSON, which programs can iterate over.
func TestListsInJSON(t *testing.T) {
	f := &view.Facts{Now: now, DB: new(state.DB), Prefs: prefs.Merge(), Disk: view.Disk{Free: -1, Used: -1}}
	b, err := json.Marshal(f.Status())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"projects":[]`, `"tasks":[]`, `"transfers":[]`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s\nhas no %s", b, want)
		}
	}
}

// The text of a task that runs under a limit, or reports no progress.
func TestStatusNamesWhatSlowsATask(t *testing.T) {
	f := facts(t, state.Result{State: protocol.ClientDownloaded, Started: now}, state.File{Local: state.FilePresent})
	f.Processes = map[string]view.Process{key: {Since: now.Add(-time.Minute), Progress: &executor.Progress{PID: 42, Elapsed: 6000 * time.Second}}}
	f.Prefs.CPUUsageLimit, f.Prefs.NiuCPUUsageLimit = 1, 1
	f.Last = decide.Decide(f.Snapshot())
	task := f.Status().Tasks[0]
	for _, want := range []string{"Running. Tasks run for 1% of the time (cpu_usage_limit = 1).", "It has computed for 1 h 40 min instead of the estimated 16 min 40 s, and its application reports no progress"} {
		if !strings.Contains(task.Why, want) {
			t.Errorf("%q is not in %q", want, task.Why)
		}
	}
	if !strings.Contains(task.Cure, "starling task abort r") || task.Fraction > 0.99 {
		t.Errorf("got %+v", task)
	}
	whole := f.Last.Plan.Results[0].Remaining
	f.Prefs.NiuCPUUsageLimit = 100
	if unlimited := decide.Decide(f.Snapshot()).Plan.Results[0].Remaining; whole != 100*unlimited {
		t.Errorf("%v remain at a hundredth of the time, %v at all of it", whole, unlimited)
	}
}

// A name that is one letter off is asked about once the project's own are known.
func TestMisspeltApplications(t *testing.T) {
	f := facts(t, state.Result{State: protocol.ClientDownloaded}, state.File{Local: state.FilePresent})
	acc := f.Accounts[project]
	acc.Apps = []settings.App{{Name: "uper"}, {Name: "something else"}, {Name: "upper"}}
	acc.ExcludeGPUs = []settings.ExcludeGPU{{App: "upperr"}, {}}
	f.Accounts[project] = acc
	if c := f.Status().Complaints; len(c) > 0 {
		t.Errorf("before anything is known: %q", c)
	}
	statetest.Update(t, f.DB, func(tx *state.Tx) {
		f.DB.Apps.Put(tx, state.Key(project, "upper"), state.App{Project: project, App: protocol.App{Name: "upper"}})
	})
	want := []string{
		`The account file of http://p.example/: [[app]]: the project has sent no application "uper". Did you mean "upper"?`,
		`The account file of http://p.example/: [[exclude_gpu]]: the project has sent no application "upperr". Did you mean "upper"?`,
	}
	if c := f.Status().Complaints; !slices.Equal(c, want) {
		t.Errorf("got %q", c)
	}
}

// Preferences without effect on any computer are reported at once, also while no agent runs.
func TestConstantsWithoutEffectAreSaidAtOnce(t *testing.T) {
	f := facts(t, state.Result{State: protocol.ClientDownloaded}, state.File{Local: state.FilePresent})
	f.PID, f.Prefs.CPUUsageLimit, f.Prefs.TemperatureCeiling = 0, 0, 70
	if s := f.Status(); len(s.NoEffect) != 1 || !strings.HasPrefix(s.NoEffect[0], "cpu_usage_limit has no effect") {
		t.Errorf("got %q", s.NoEffect)
	}
}

// A transfer that hangs can be distinguished from one that the volunteer's limit slows down.
func TestThePaceOfATransfer(t *testing.T) {
	file := state.File{FileInfo: protocol.FileInfo{NBytes: 3_300_000, DownloadURLs: []string{"http://p.example/in"}}}
	f := facts(t, state.Result{State: protocol.ClientDownloading, Slot: state.NoSlot}, file)
	file.Project, file.Name = project, "in"
	f.Prefs.MaxBytesSecDown = 1000
	f.Transfers = map[string]view.Transfer{state.Key(project, "in"): {File: file, Since: now.Add(-time.Hour), Bytes: 300_000, Moved: now.Add(-59 * time.Second)}}
	if s := f.Status(); len(s.Transfers) != 1 || s.Transfers[0].Silent != 0 || s.Transfers[0].Remaining != 3000 {
		t.Errorf("got %+v", s.Transfers)
	}
	f.Transfers[state.Key(project, "in")] = view.Transfer{File: file, Moved: now.Add(-61 * time.Second)}
	if s := f.Status(); len(s.Transfers) != 1 || s.Transfers[0].Silent != 61 {
		t.Errorf("got %+v", s.Transfers)
	}
}
