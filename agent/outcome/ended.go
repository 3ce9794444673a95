package outcome

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// Of what applications wrote, the history has the last so many bytes.
const (
	endedStderr    = 4 << 10 // of a task that did not finish
	finishedStderr = 1 << 10
)

// Messages of results that were given up, other than by a person's request for one of them.
const (
	ProjectLeft      = "project detached or reset"
	AbortedByManager = "aborted by the account manager"
)

// Ended returns the history's record of a result that is over on this computer.
func Ended(db *state.DB, r state.Result) state.EndedTask {
	p, _ := db.Projects.Get(r.Project)
	u, _ := db.Units.Get(state.Key(r.Project, r.WorkunitName))
	e := state.EndedTask{
		Project: r.Project, ProjectName: p.Name, Name: r.Name, Workunit: r.WorkunitName, App: u.AppName,
		VersionNum: r.VersionNum, PlanClass: r.PlanClass,
		Outcome: state.TaskFinished, ExitStatus: r.ExitStatus,
		Received: r.Received, Started: r.Started, Finished: r.Completed, Deadline: r.ReportDeadline,
		Elapsed: max(r.Elapsed, r.Checkpoint.Elapsed), CPUTime: max(r.CPUTime, r.Checkpoint.CPUTime), PeakRSS: r.PeakRSS, Energy: r.Energy,
	}
	most := finishedStderr
	if f := Failure(db, r); f.Is() {
		e.Outcome, e.By = outcome(r, f.Code)
		e.Code, e.About, e.Text, most = string(f.Code), f.About, sentence(f.Text(r.Completed).String()), endedStderr
	}
	if e.By == state.ByUser && r.Message == ProjectLeft {
		e.Text = "The project was detached or reset."
	}
	e.Stderr = tail(Written(r.Stderr), most)
	return e
}

// Exit returns the reason for which a task of the history did not finish, in a language. It returns ""
// if the task finished. The history of older versions has English sentences only.
func Exit(e state.EndedTask, l words.Language) string {
	cause := reason.Reason{Code: reason.Code(e.Code), About: e.About}.Text(e.Finished)
	if sentence(cause.String()) == e.Text {
		return sentence(cause.In(l))
	}
	return words.T(e.Text).In(l)
}

// outcome distinguishes a task that failed from one that was given up, and returns who gave it up.
func outcome(r state.Result, code reason.Code) (state.Outcome, state.Actor) {
	switch code {
	case reason.AbortedByUser:
		return state.TaskAborted, state.ByUser
	case reason.AbortedByProject:
		return state.TaskAborted, state.ByProject
	case reason.AbortedByManager:
		return state.TaskAborted, state.ByManager
	case reason.LateStart:
		return state.TaskAborted, state.ByAgent
	}
	if r.State == protocol.ClientAborted { // over a limit
		return state.TaskAborted, state.ByAgent
	}
	return state.TaskFailed, ""
}

// sentence makes one of its end.
func sentence(cause string) string {
	first, n := utf8.DecodeRuneInString(cause)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + cause[n:] + "."
}

// tail returns the end of a text, from the start of a line if it is not whole.
func tail(text string, most int) string {
	text = strings.TrimSpace(bxml.Printable(text, 3*len(text)))
	if len(text) <= most {
		return text
	}
	cut := strings.ToValidUTF8(text[len(text)-most:], "")
	if _, after, ok := strings.Cut(cut, "\n"); ok && after != "" {
		return after
	}
	return cut
}
