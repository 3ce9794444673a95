package view_test

import (
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

func TestTaskTellsAllThatIsKnown(t *testing.T) {
	r := state.Result{
		State: protocol.ClientDownloaded, Slot: 3, Received: now.Add(-time.Hour), Started: now.Add(-time.Minute),
		Checkpoint: state.Checkpoint{Elapsed: 20 * time.Second}, PeakRSS: 5e6,
	}
	r.FileRefs = []protocol.FileRef{{FileName: "out"}}
	f := facts(t, r, state.File{FileInfo: protocol.FileInfo{NBytes: 77}, Local: state.FilePresent})
	f.Processes = map[string]view.Process{key: {Progress: &executor.Progress{PID: 9, Elapsed: 50 * time.Second, CheckpointElapsed: 30 * time.Second, WorkingSet: 4e6, Disk: 100}}}
	statetest.Update(t, f.DB, func(tx *state.Tx) {
		f.DB.Apps.Put(tx, state.Key(project, "app"), state.App{Project: project, App: protocol.App{Name: "app", UserFriendlyName: "Search for primes"}})
	})
	got, ok := f.Task(project, "r")
	if !ok || got.AppTitle != "Search for primes" || got.Slot != 3 || got.PID != 9 || got.Workunit != "w" || got.Memory != 4e6 || got.PeakMemory != 5e6 || got.Disk != 100 || got.Checkpoint != 30 || got.Unsaved != 20 {
		t.Errorf("%v: %+v", ok, got)
	}
	if want := []view.TaskFile{{Name: "in", Size: 77, Here: true}, {Name: "out", Output: true}}; !slices.Equal(got.Files, want) {
		t.Errorf("files %+v, want %+v", got.Files, want)
	}
	if _, ok := f.Task(project, "q"); ok {
		t.Error("a task that is not there was found")
	}
}

func TestTaskThatFailedShowsWhatItWrote(t *testing.T) {
	r := state.Result{State: protocol.ClientComputeError, Slot: state.NoSlot, ReadyToReport: true, ExitStatus: 3, Message: "process exited with code 3"}
	r.Stderr = "<message>\nprocess exited with code 3\n</message>\n<stderr_txt>\none\ntwo\n</stderr_txt>\n"
	got, ok := facts(t, r, state.File{}).Task(project, "r")
	if !ok || got.Stderr != "one\ntwo" || got.Message != "process exited with code 3" || !got.Failed || !got.Ready {
		t.Errorf("%v: %+v", ok, got)
	}
}
