package outcome_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/outcome"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

const project = "http://p.example/"

var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// records returns a state with a project and a workunit.
func records(t *testing.T) *state.DB {
	t.Helper()
	db, err := state.Open(filepath.Join(t.TempDir(), "state.db"))
	if err == nil {
		t.Cleanup(func() { _ = db.Close() })
		err = db.Update(func(tx *state.Tx) {
			db.Projects.Put(tx, project, state.Project{MasterURL: project, Name: "P"})
			db.Units.Put(tx, state.Key(project, "w"), state.Workunit{Project: project, Workunit: protocol.Workunit{Name: "w", AppName: "app"}})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestHowATaskEnded(t *testing.T) {
	db := records(t)
	for _, tt := range []struct {
		name    string
		r       state.Result
		outcome state.Outcome
		by      state.Actor
		text    string
	}{
		{"finished", state.Result{State: protocol.ClientUploaded}, state.TaskFinished, "", ""},
		{"a crash", state.Result{State: protocol.ClientComputeError, ExitStatus: 139, Message: "process got signal 11", Cause: reason.Reason{Code: reason.Crashed, About: "signal 11, segmentation fault"}}, state.TaskFailed, "", "Its application crashed (signal 11, segmentation fault)."},
		{"a limit", state.Result{State: protocol.ClientAborted, ExitStatus: protocol.ExitTimeLimit, Message: "time"}, state.TaskAborted, state.ByAgent, "It computed longer than its project allows."},
		{"no output", state.Result{State: protocol.ClientUploadFailed, ExitStatus: protocol.ExitUploadFailed, Message: "gone"}, state.TaskFailed, "", "The project's server did not take an output file."},
		{"a person", state.Result{State: protocol.ClientAborted, ExitStatus: protocol.ExitAbortedByUser, Message: "aborted by user"}, state.TaskAborted, state.ByUser, "You aborted it."},
		{"an account manager", state.Result{State: protocol.ClientAborted, ExitStatus: protocol.ExitAbortedByUser, Message: outcome.AbortedByManager}, state.TaskAborted, state.ByManager, "Your account manager aborted it."},
		{"a detach", state.Result{State: protocol.ClientAborted, ExitStatus: protocol.ExitAbortedByUser, Message: outcome.ProjectLeft}, state.TaskAborted, state.ByUser, "The project was detached or reset."},
		{"its project", state.Result{State: protocol.ClientAborted, ExitStatus: protocol.ExitAbortedByProject}, state.TaskAborted, state.ByProject, "The project no longer needs it and aborted it."},
		{"too late", state.Result{State: protocol.ClientAborted, ExitStatus: protocol.ExitUnstartedLate, Message: "late"}, state.TaskAborted, state.ByAgent, "Its deadline passed before it was started."},
	} {
		r := tt.r
		r.Project, r.Name, r.WorkunitName = project, "r", "w"
		r.Checkpoint.CPUTime = time.Minute
		r.Ready(now)
		e := outcome.Ended(db, r)
		if e.Outcome != tt.outcome || e.By != tt.by || e.Text != tt.text {
			t.Errorf("%s: got %s by %q: %q; want %s by %q: %q", tt.name, e.Outcome, e.By, e.Text, tt.outcome, tt.by, tt.text)
		}
		german := outcome.Exit(e, "de")
		if got := outcome.Exit(e, words.English); got != tt.text || (german == tt.text) != (tt.text == "") || strings.HasSuffix(german, "..") {
			t.Errorf("%s: the history shows %q and %q", tt.name, got, german)
		}
		if e.App != "app" || e.ProjectName != "P" || !e.Finished.Equal(now) || e.CPUTime != time.Minute {
			t.Errorf("%s: got %+v", tt.name, e)
		}
	}
}

// The end of an application's output is kept, in whole lines, without anything that could control a
// terminal.
func TestTheEndOfWhatATaskWrote(t *testing.T) {
	db := records(t)
	of := func(text string, failed bool) string {
		r := state.Result{Project: project, State: protocol.ClientUploaded, Stderr: "<message>\nm\n</message>\n<stderr_txt>\n" + text + "\n</stderr_txt>\n"}
		if failed {
			r.State, r.Message = protocol.ClientComputeError, "process got signal 11"
		}
		r.Ready(now)
		return outcome.Ended(db, r).Stderr
	}
	if got := of("\n\na\x1b[31mb\x00\xffc\n", true); got != "a[31mb\uFFFDc" {
		t.Errorf("got %q", got)
	}
	report := "<core_client_version>7.20.5</core_client_version>\n<message>\n\n</message>\n"
	if got := of(report+"<stderr_txt>\nits words\n</stderr_txt>\n", true); got != "its words" {
		t.Errorf("of a report in a report: %q", got)
	}
	if got := of(report, true); got != "" {
		t.Errorf("of an empty report in a report: %q", got)
	}
	lines := strings.Repeat("0123456789\n", 1000)
	for failed, most := range map[bool]int{true: 4 << 10, false: 1 << 10} {
		got := of(lines+"the end", failed)
		if len(got) > most || len(got) < most-20 || !strings.HasPrefix(got, "0123456789\n") || !strings.HasSuffix(got, "\nthe end") {
			t.Errorf("%d bytes: %.20q … %q", len(got), got, got[len(got)-20:])
		}
	}
	if got := of(strings.Repeat("ä", 10_000), true); len(got) > 4<<10 || strings.Trim(got, "ä") != "" {
		t.Errorf("a line without an end: %d bytes, %q", len(got), strings.Trim(got, "ä"))
	}
}

// Records of versions that did not keep the subject of a failure stay as they are.
func TestAnOlderHistory(t *testing.T) {
	old := state.EndedTask{Code: string(reason.Crashed), Text: "Its application crashed (signal 9)."}
	if got := outcome.Exit(old, "de"); got != old.Text {
		t.Errorf("got %q", got)
	}
}
