package life

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/agent/outcome"
	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/internal/backoff"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// A Move takes a result to another state.
type Move struct {
	key    string
	r      state.Result
	event  state.Event
	change func(*state.Result) // further changes to make along with it, may be nil
}

// Advance moves results whose files have come, gone or failed: each as far as it
// goes, and all of them at once.
func (l *Life) Advance(now time.Time) {
	if l.advanced == l.DB.Changes() {
		return // they did all that they could
	}
	var moves []Move
	for key, r := range l.DB.Results.All() {
		for !r.ReadyToReport {
			m := Move{key: key, r: r}
			if m.event, m.change = l.due(r, now); m.event == 0 {
				break
			}
			moves = append(moves, m)
			r, _ = m.moved()
		}
	}
	if l.MoveAll(moves...) {
		l.advanced = l.DB.Changes()
	}
}

// due returns the event that has happened to a result's files since it entered its state, or 0 if
// no event moves it.
func (l *Life) due(r state.Result, now time.Time) (state.Event, func(*state.Result)) {
	switch r.State {
	case protocol.ClientNew:
		return state.FilesNeeded, nil
	case protocol.ClientDownloading:
		return l.dueDownload(r, now)
	case protocol.ClientUploading:
		return l.dueUpload(r, now)
	}
	return 0, nil
}

func (l *Life) dueDownload(r state.Result, now time.Time) (state.Event, func(*state.Result)) {
	missing := false
	for _, ref := range l.DB.Inputs(r) {
		f, ok := l.DB.Files.Get(state.Key(r.Project, ref.FileName))
		switch {
		case ok && f.Local == state.FilePresent:
		case ok && f.Local == state.FileFailed:
			return state.DownloadFailed, func(r *state.Result) {
				r.ExitStatus = protocol.ExitDownloadFailed
				r.Message = f.Error
				r.Stderr = Report(fmt.Sprintf("download error: %s (%d)", f.Error, f.ErrNum), "")
				r.Ready(now)
			}
		default:
			missing = true
		}
	}
	if missing {
		return 0, nil
	}
	return state.DownloadsDone, nil
}

func (l *Life) dueUpload(r state.Result, now time.Time) (state.Event, func(*state.Result)) {
	for _, ref := range r.FileRefs {
		f, ok := l.DB.Files.Get(state.Key(r.Project, ref.FileName))
		switch {
		case !ok || f.Done:
		case f.Local == state.FileFailed:
			return state.UploadGivenUp, func(r *state.Result) {
				r.ExitStatus = protocol.ExitUploadFailed
				r.Message = f.Error
				r.Stderr = AddError(r.Stderr, "upload failure: "+f.Error)
				r.Ready(now)
			}
		default:
			return 0, nil
		}
	}
	return state.UploadsDone, func(r *state.Result) { r.Ready(now) }
}

// moved returns the result after the move, or false if the move is not a legal one.
func (m Move) moved() (state.Result, bool) {
	r := m.r
	next, ok := state.Next(r.State, m.event)
	if !ok {
		return r, false
	}
	r.State = next
	if m.change != nil {
		m.change(&r)
	}
	return r, true
}

// MoveAll takes results through moves and saves all of it at once, however many there are, since
// each save waits for the disk. It reports whether all were legal and could be saved. The illegal
// ones change nothing.
func (l *Life) MoveAll(moves ...Move) bool {
	now := time.Now()
	var made []Move
	var after []state.Result
	if !l.Save(func(tx *state.Tx) {
		for _, m := range moves {
			r, legal := m.moved()
			if !legal {
				continue
			}
			made, after = append(made, m), append(after, r)
			l.DB.Results.Put(tx, m.key, r)
			if r.ReadyToReport && !m.r.ReadyToReport {
				l.DB.End(tx, outcome.Ended(l.DB, r))
			}
			if f := outcome.Failure(l.DB, r); failed(r) && f.Computer() {
				l.restrain(tx, r, f, now)
			}
		}
	}) {
		return false
	}
	for i, m := range made {
		r := after[i]
		if r.ReadyToReport && !m.r.ReadyToReport && !r.Started.IsZero() {
			l.logJob(r, now)
		}
		if failed(r) {
			l.Log.Warn("result failed", "project", r.Project, "result", r.Name, "state", r.State, "exit_status", r.ExitStatus, "err", r.Message)
		} else {
			l.Log.Debug("result state changed", logflag.Key, logflag.State, "project", r.Project, "result", r.Name, "event", m.event, "from", m.r.State, "to", r.State)
		}
	}
	return len(made) == len(moves)
}

func failed(r state.Result) bool { return r.ReadyToReport && r.Message != "" }

// restrain delays fetching more work of a project whose results fail here, so that a broken
// application does not get more and more of them. It applies to the kind of processor that the
// result computes on.
func (l *Life) restrain(tx *state.Tx, r state.Result, f reason.Reason, now time.Time) {
	p, ok := l.DB.Projects.Get(r.Project)
	if !ok {
		return
	}
	p.Fetch.Errors++
	wait := backoff.Delay(min(p.Fetch.Errors, contact.RetryCap), contact.RetryDelayMin, contact.RetryDelayMax, l.Rand)
	v, _ := l.DB.Versions.Get(r.Version)
	s := p.Stream(v.Kind())
	if t := now.Add(wait); t.After(s.NextTry) {
		s.NextTry, s.Why = t, ""
	}
	p.SetStream(v.Kind(), s)
	p.Fetch.Failure = state.Failure{Task: f.Task, Code: f.Code, About: f.About, Stderr: f.Detail, At: now}
	l.DB.Projects.Put(tx, r.Project, p)
}

// Report returns the text to send with a result that has ended, in the form that projects' web
// sites can show: the error, if there was one, and the application's output, if it wrote any.
//
// Source: BOINC client/client_state.cpp, CLIENT_STATE::report_result_error, and
// client/app_control.cpp, ACTIVE_TASK::read_stderr_file.
func Report(message, stderr string) string {
	s := AddError("", message)
	if stderr != "" {
		s += "<stderr_txt>\n" + stderr + "\n</stderr_txt>\n"
	}
	return s
}

// AddError adds a later error to the report of a result. It adds nothing if message is empty.
func AddError(report, message string) string {
	if message == "" {
		return report
	}
	return report + "<message>\n" + message + "</message>\n"
}
