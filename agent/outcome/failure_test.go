package outcome_test

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/outcome"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// TestHowTasksFail checks the texts for the stored records of results.
func TestHowTasksFail(t *testing.T) {
	db := statetest.Open(t, t.TempDir())
	crash := reason.Reason{Code: reason.Crashed, About: "signal 11, segmentation fault"}
	for _, tt := range []struct {
		status  int
		message string
		stored  reason.Reason
		want    reason.Code
		cause   string
	}{
		{139, "process got signal 11", crash, reason.Crashed, "(signal 11, segmentation fault)"},
		{protocol.ExitAbortedByClient, "exceeded process limit", reason.Reason{Code: reason.ManyProcesses}, reason.ManyProcesses, "max_processes"},
		{3, "of a later version", reason.Reason{Code: "something_new"}, reason.OtherFailure, "an unknown error occurred"},
		{3, "process exited with code 3 (0x3, -253)", reason.Reason{}, reason.ExitStatus, "(exit status 3)"},
		{protocol.ExitDiskLimit, "disk", reason.Reason{}, reason.DiskLimit, "disk space"},
		{protocol.ExitTimeLimit, "time", reason.Reason{}, reason.TimeLimit, "longer"},
		{protocol.ExitMemoryLimit, "memory", reason.Reason{}, reason.MemoryLimit, "memory"},
		{protocol.ExitTooManyExits, "too many exit(0)s", reason.Reason{}, reason.NeverFinished, "100 times"},
		{protocol.ExitStartFailed, "fork/exec: permission denied", reason.Reason{}, reason.NotStarted, "could not be started"},
		{protocol.ExitUnstartedLate, "late", reason.Reason{}, reason.LateStart, "deadline"},
		{protocol.ExitAbortedByUser, "aborted by user", reason.Reason{}, reason.AbortedByUser, "you"},
		{protocol.ExitAbortedByUser, outcome.AbortedByManager, reason.Reason{}, reason.AbortedByManager, "your account manager"},
		{protocol.ExitAbortedByProject, "", reason.Reason{}, reason.AbortedByProject, "no longer needs"},
		{-1, "open slots/0/out_1: something new", reason.Reason{}, reason.OtherFailure, "an unknown error occurred"},
		{0, "open slots/0/out_1: something new", reason.Reason{}, reason.OutputWrong, "left no usable output"},
		{0, "", reason.Reason{}, "", ""},
	} {
		r := state.Result{Project: "p", ExitStatus: tt.status, Message: tt.message, Cause: tt.stored, ReadyToReport: true}
		r.Name = "w_0"
		r.Stderr = "<stderr_txt>\na\n\nb\nc\nd\n" + strings.Repeat("e", 1000) + "\n</stderr_txt>\n"
		f := outcome.Failure(db, r)
		if f.Code != tt.want || !strings.Contains(f.Text(now).String(), tt.cause) {
			t.Errorf("%d %q: got %+v: %q, want %s with %q", tt.status, tt.message, f, f.Text(now), tt.want, tt.cause)
		}
		if f.Is() && (!strings.HasPrefix(f.Detail, "b\nc\nd\neee") || len(f.Detail) > 300) {
			t.Errorf("its last lines are %q", f.Detail)
		}
	}
	running := state.Result{Message: "process got signal 11", Cause: crash}
	if f := outcome.Failure(db, running); f.Is() {
		t.Errorf("one that is not over: %+v", f)
	}
}

// The last lines of an application's output do not include those that a library writes at the end
// of every application.
func TestTheLastLineIsTheProgramsOwn(t *testing.T) {
	for _, end := range []string{"12:00:01 (7): called boinc_finish(3)", "called finish(3)"} {
		r := state.Result{Project: "p", ExitStatus: 3, Message: "process exited with code 3 (0x3, -253)", ReadyToReport: true}
		r.Stderr = "<stderr_txt>\nCannot allocate frobnicator\n" + end + "\n\n</stderr_txt>\n"
		f := outcome.Failure(new(state.DB), r)
		if f.Detail != "Cannot allocate frobnicator" || !strings.Contains(f.Ended().String(), `"Cannot allocate frobnicator"`) {
			t.Errorf("got %+v", f)
		}
	}
}

// TestAProgramIsNoInputFile: a file of the application that is not on the server.
func TestAProgramIsNoInputFile(t *testing.T) {
	db := statetest.Open(t, t.TempDir())
	v := state.AppVersion{Project: "p", AppVersion: protocol.AppVersion{AppName: "app", FileRefs: []protocol.FileRef{{FileName: "app_1.00"}}}}
	r := state.Result{Project: "p", Version: v.ID(), ExitStatus: protocol.ExitDownloadFailed, Message: "x", ReadyToReport: true}
	r.WorkunitName = "w"
	for file, want := range map[string]reason.Code{"app_1.00": reason.ProgramMissing, "in": reason.InputMissing} {
		statetest.Update(t, db, func(tx *state.Tx) {
			db.Versions.Put(tx, v.ID(), v)
			db.Units.Put(tx, state.Key("p", "w"), state.Workunit{Project: "p", Workunit: protocol.Workunit{Name: "w", FileRefs: []protocol.FileRef{{FileName: "in"}}}})
			for _, name := range []string{"app_1.00", "in"} {
				f := state.File{Project: "p", FileInfo: protocol.FileInfo{Name: name}, Local: state.FilePresent}
				if name == file {
					f.Local, f.Obstacle = state.FileFailed, reason.Reason{Code: reason.NotOnServer, About: "HTTP 404 Not Found"}
				}
				db.Files.Put(tx, state.Key("p", name), f)
			}
		})
		f := outcome.Failure(db, r)
		if f.Code != want || !strings.Contains(f.Text(now).String(), file+" (HTTP 404 Not Found)") {
			t.Errorf("%s: got %+v: %q", file, f, f.Text(now))
		}
		if reset := strings.Contains(f.Cure("u").String(), "starling reset"); reset != (want == reason.InputMissing) {
			t.Errorf("%s: %q", file, f.Cure("u"))
		}
	}
}
