package life

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/boincapi/wasmhost"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
)

// task describes a result to the executor, with the numbers of the coprocessors that it is
// given.
func (l *Life) task(r state.Result, on []int) (executor.Task, error) {
	p, _ := l.DB.Projects.Get(r.Project)
	v, okV := l.DB.Versions.Get(r.Version)
	u, okU := l.DB.Units.Get(state.Key(r.Project, r.WorkunitName))
	if !okV || !okU {
		return executor.Task{}, describedError("its application version or workunit is not known")
	}
	app := l.Accounts[r.Project].App(u.AppName)
	t := executor.Task{
		Result: taskID(r), ProjectURL: r.Project, ProjectDir: l.ProjectDir(r.Project), FLOPS: v.Speed(l.Host.Fpops), Unthrottled: l.unthrottled(v), CPUs: l.TaskCPUs,
		Args: slices.Concat(appipc.SplitCommandLine(u.CommandLine), appipc.SplitCommandLine(v.Cmdline), appipc.SplitCommandLine(app.Cmdline)),
	}
	init := appipc.DefaultInitData()
	for _, ref := range v.FileRefs {
		if ref.MainProgram {
			if t.Program != "" {
				return t, describedError("its application version has two main programs")
			}
			t.Program = ref.FileName
		}
		if protocol.IsImageLayer(ref.FileName) {
			continue // the slot does not need it
		}
		if f, _ := l.DB.Files.Get(state.Key(r.Project, ref.FileName)); f.Output {
			return t, describedError("a file of its application version is an output of a task")
		}
		init.AppFiles = append(init.AppFiles, ref.FileName)
		t.Files = append(t.Files, l.input(r.Project, ref))
	}
	if t.Program == "" {
		return t, describedError("its application version has no main program")
	}
	switch {
	case strings.Contains(v.PlanClass, "vbox"), strings.Contains(v.PlanClass, "docker"):
		t.Runner = executor.Outside{Allowed: l.Settings.Virtualization}
	case protocol.IsImagePlatform(v.Platform):
		m, err := l.image(v)
		if err != nil {
			return t, err
		}
		t.Image = m
	case v.Platform == wasmhost.Platform:
		self, err := os.Executable()
		if err != nil {
			return t, err
		}
		t.Runner = executor.Interpreted{Program: self, Args: wasmhost.Args}
		compiled := filexfer.CompiledName(t.Program)
		t.Files = append(t.Files,
			executor.File{Physical: compiled, Logical: wasmhost.CompiledFile, Optional: true},
			executor.File{Physical: compiled, Logical: wasmhost.NewlyCompiledFile, Output: true, Copy: true, Spare: true})
	}
	for _, ref := range u.FileRefs {
		t.Files = append(t.Files, l.input(r.Project, ref))
	}
	for _, ref := range r.FileRefs {
		f, _ := l.DB.Files.Get(state.Key(r.Project, ref.FileName))
		if f.AppFile || f.Own {
			return t, describedError("an output has the name of a program's file")
		}
		t.Files = append(t.Files, executor.File{
			Physical: ref.FileName, Logical: ref.OpenName, Copy: ref.CopyFile,
			Output: true, Optional: ref.Optional, MaxBytes: f.MaxNBytes, Gzip: f.GzipWhenDone,
		})
	}
	c := protocol.CompatVersion
	init.MajorVersion, init.MinorVersion, init.Release = c.Major, c.Minor, c.Release
	init.AppVersion, init.AppName, init.PlanClass = v.VersionNum, v.AppName, v.PlanClass
	init.UserID, init.HostID, init.UserName, init.TeamName = p.UserID, p.HostID, p.UserName, p.TeamName
	init.ProjectPreferences, init.Authenticator = p.ProjectPrefs, string(l.Accounts[r.Project].Authenticator)
	init.WUName, init.ResultName = u.Name, r.Name
	init.UserTotalCredit, init.UserExpavgCredit = p.UserTotalCredit, p.UserExpavgCredit
	init.HostTotalCredit, init.HostExpavgCredit = p.HostTotalCredit, p.HostExpavgCredit
	init.ResourceShareFraction = l.ShareFraction(r.Project)
	init.CheckpointPeriod = l.Prefs.CheckpointPeriod()
	init.NCPUs = max(cmp.Or(app.AvgNCPUs, v.AvgNCPUs), 1)
	if use := view.Usage(v, l.Accounts[r.Project]); len(on) > 0 {
		kind := resource.Kind(v.Coproc)
		init.GPUType, init.GPUDeviceNum, init.GPUUsage, init.NCPUs = v.Coproc, on[0], use.Devices(), use.CPUs
		init.GPUOpenCLDevIndex = l.Coprocs.OpenCLIndex(kind, on[0])
		access := l.Coprocs.Access(kind)
		t.Devices, t.Reads, t.Lists = access.Devices, access.Read, access.List
		if t.Image != nil {
			t.Image.Shared = shared(l.Coprocs, kind)
		}
		for _, n := range on {
			t.Args = append(t.Args, "--device", strconv.Itoa(n))
		}
	}
	if len(on) == 0 && len(l.Host.OpenCLCPUs) > 0 {
		t.Reads = []string{gpus.OpenCLDrivers}
	}
	init.RscFPOpsEst, init.RscFPOpsBound = u.RscFpopsEst, u.RscFpopsBound
	init.RscMemoryBound, init.RscDiskBound = int64(u.RscMemoryBound), int64(u.RscDiskBound)
	init.ComputationDeadline = r.ReportDeadline
	init.HostInfo, init.GlobalPreferences = l.Host.InnerXML()+protocol.CoprocsXML(l.Coprocs.Coprocs()), l.Prefs.XML()
	init.NoPriorityChange = l.Settings.NoPriorityChange
	t.Init = init
	return t, nil
}

// unthrottled reports whether tasks of a version compute all the time, regardless of the
// preferences for CPU time.
func (l *Life) unthrottled(v state.AppVersion) bool {
	return v.DontThrottle || l.DB.NonCPUIntensive(v)
}

// Reread passes changes of the preferences, and of the trust in their tasks' claims of low CPU use,
// to running applications.
func (l *Life) Reread() {
	for _, run := range l.running {
		r, ok := l.DB.Results.Get(run.key)
		if !ok {
			continue
		}
		if t, err := l.task(r, run.on); err == nil {
			_ = l.Exec.Reread(t) // one that has just ended does not need it
		}
	}
}

// input describes a file that a task reads. It is checked if it can be fetched again.
func (l *Life) input(project string, ref protocol.FileRef) executor.File {
	x := executor.File{Physical: ref.FileName, Logical: ref.OpenName, Copy: ref.CopyFile}
	f, _ := l.DB.Files.Get(state.Key(project, ref.FileName))
	if !f.Own && !f.Output && len(f.DownloadURLs)+len(f.GzippedURLs) > 0 {
		x.MD5 = f.MD5
	}
	return x
}
