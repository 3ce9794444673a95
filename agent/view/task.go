package view

import (
	"cmp"
	"fmt"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/outcome"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// A Task is all that is known of one task.
type Task struct {
	control.Task
	Workunit string            `json:"workunit"`
	Version  string            `json:"version"` // such as 7.02 (avx) for x86_64-pc-linux-gnu
	Reason   jobsched.Decision `json:"reason"`  // of the last pass (its code may be "")
	CPUs     float64           `json:"cpus"`

	// In bytes, 0 if unknown.
	Memory      int64 `json:"memory,omitempty"` // in use now
	PeakMemory  int64 `json:"memory_peak,omitempty"`
	MemoryBound int64 `json:"memory_bound,omitempty"`
	Disk        int64 `json:"disk,omitempty"`
	DiskBound   int64 `json:"disk_bound,omitempty"`

	Received   time.Time `json:"received,omitzero"`
	Started    time.Time `json:"started,omitzero"`
	Completed  time.Time `json:"completed,omitzero"`
	Checkpoint float64   `json:"checkpoint_elapsed_seconds"` // elapsed time that is saved
	Crashes    int       `json:"crashes,omitempty"`          // of the agent while it ran

	Files   []TaskFile `json:"files"`
	Message string     `json:"message,omitempty"` // the error, in one line, as reported to the project
	Stderr  string     `json:"stderr,omitempty"`  // the end of the application's output
}

// A TaskFile is a file that a task needs or makes.
type TaskFile struct {
	Name   string `json:"name"`
	Output bool   `json:"output,omitempty"`
	Size   int64  `json:"size,omitempty"` // bytes (0 if unknown)
	Here   bool   `json:"here,omitempty"`
	Sent   bool   `json:"sent,omitempty"`
	Error  string `json:"error,omitempty"` // why it is not where it should be, in one sentence
}

// maxTaskFiles bounds how many files of a task are shown.
const maxTaskFiles = 200

// Task describes the task with a name, if there is one. The stderr output of a process that still
// runs is not in it.
func (f *Facts) Task(project, name string) (t Task, ok bool) {
	key := state.Key(project, name)
	r, ok := f.DB.Results.Get(key)
	if !ok {
		return t, false
	}
	unit := f.unit(r)
	version, _ := f.DB.Versions.Get(r.Version)
	t = Task{
		Task: f.showTask(key, r), Workunit: r.WorkunitName, Version: versionText(version),
		CPUs: cmp.Or(version.AvgNCPUs, 1), PeakMemory: r.PeakRSS, MemoryBound: int64(unit.RscMemoryBound), DiskBound: int64(unit.RscDiskBound),
		Received: r.Received, Started: r.Started, Completed: r.Completed, Checkpoint: r.Checkpoint.Elapsed.Seconds(),
		Crashes: r.Crashes, Message: r.Message, Stderr: outcome.Written(r.Stderr),
	}
	if seen, plan, ok := f.Last.Result(project, name); ok {
		t.Reason, t.CPUs = plan.Decision, cmp.Or(seen.CPUs, t.CPUs)
		t.Reason.Explanation = t.Reason.In(f.Language)
	}
	if p := f.Processes[key].Progress; p != nil {
		t.Memory, t.PeakMemory, t.Disk = p.WorkingSet, max(t.PeakMemory, p.PeakWorkingSet), p.Disk
		t.Checkpoint = p.CheckpointElapsed.Seconds()
	}
	t.Files = f.taskFiles(r)
	return t, true
}

func versionText(v state.AppVersion) string {
	if v.AppName == "" {
		return ""
	}
	text := fmt.Sprintf("%d.%02d", v.VersionNum/100, v.VersionNum%100)
	if v.PlanClass != "" {
		text += " (" + v.PlanClass + ")"
	}
	if v.Platform != "" {
		text += " for " + v.Platform
	}
	return text
}

func (f *Facts) taskFiles(r state.Result) []TaskFile {
	files := []TaskFile{}
	add := func(refs []protocol.FileRef, output bool) {
		for _, ref := range refs[:min(len(refs), maxTaskFiles-len(files))] {
			x := TaskFile{Name: ref.FileName, Output: output}
			if file, ok := f.DB.Files.Get(state.Key(r.Project, ref.FileName)); ok {
				x.Size, x.Here, x.Sent, x.Error = file.NBytes, file.Local == state.FilePresent, file.Done, f.problem(file)
			}
			files = append(files, x)
		}
	}
	add(f.DB.Inputs(r), false)
	add(r.FileRefs, true)
	return files
}
