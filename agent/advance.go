package agent

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/internal/backoff"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// advance moves results whose files have come, gone or failed.
func (a *Agent) advance(now time.Time) {
	for key, r := range a.db.Results.All() {
		if r.ReadyToReport {
			continue
		}
		switch r.State {
		case protocol.ClientNew:
			a.move(key, r, state.FilesNeeded, nil)
		case protocol.ClientDownloading:
			a.advanceDownload(key, r, now)
		case protocol.ClientUploading:
			a.advanceUpload(key, r, now)
		}
	}
}

func (a *Agent) advanceDownload(key string, r state.Result, now time.Time) {
	missing := false
	for _, ref := range a.db.Inputs(r) {
		f, ok := a.db.Files.Get(state.Key(r.Project, ref.FileName))
		switch {
		case ok && f.Local == state.FilePresent:
		case ok && f.Local == state.FileFailed:
			a.move(key, r, state.DownloadFailed, func(r *state.Result) {
				r.ExitStatus = protocol.ExitDownloadFailed
				r.Message = f.Error
				r.Stderr = errorReport(fmt.Sprintf("download error: %s (%d)", f.Error, f.ErrNum), "")
				r.Ready(now)
			})
			return
		default:
			missing = true
		}
	}
	if !missing {
		a.move(key, r, state.DownloadsDone, nil)
	}
}

func (a *Agent) advanceUpload(key string, r state.Result, now time.Time) {
	for _, ref := range r.FileRefs {
		f, ok := a.db.Files.Get(state.Key(r.Project, ref.FileName))
		switch {
		case !ok || f.Done:
		case f.Local == state.FileFailed:
			a.move(key, r, state.UploadGivenUp, func(r *state.Result) {
				r.ExitStatus = protocol.ExitUploadFailed
				r.Message = f.Error
				r.Stderr = errorReport("upload failure: "+f.Error, r.Stderr)
				r.Ready(now)
			})
			return
		default:
			return
		}
	}
	a.move(key, r, state.UploadsDone, func(r *state.Result) { r.Ready(now) })
}

// move takes a result through a legal move and saves it, with what else changes
// along with it.
func (a *Agent) move(key string, r state.Result, e state.Event, change func(*state.Result)) bool {
	next, ok := state.Next(r.State, e)
	if !ok {
		return false
	}
	before := r
	was := r.State
	r.State = next
	if change != nil {
		change(&r)
	}
	done := r.ReadyToReport && !before.ReadyToReport
	failed := r.ReadyToReport && r.Message != ""
	if !a.save(func(tx *state.Tx) {
		a.db.Results.Put(tx, key, r)
		if failed {
			a.restrain(tx, r.Project, time.Now())
		}
	}) {
		return false
	}
	if done && !r.Started.IsZero() {
		a.logJob(r, time.Now())
	}
	if failed {
		a.log.Warn("result failed", "project", r.Project, "result", r.Name, "state", next, "exit_status", r.ExitStatus, "error", r.Message)
	} else {
		a.log.Debug("result moved", logflag.Key, logflag.State, "project", r.Project, "result", r.Name, "event", e, "from", was, "to", next)
	}
	return true
}

// restrain puts off fetching more work of a project whose results fail here, so
// that a broken application is not fed with ever more of them.
func (a *Agent) restrain(tx *state.Tx, project string, now time.Time) {
	p, ok := a.db.Projects.Get(project)
	if !ok {
		return
	}
	p.Fetch.Errors++
	wait := backoff.Delay(min(p.Fetch.Errors, contact.RetryCap), contact.RetryDelayMin, contact.RetryDelayMax, a.rng)
	if t := now.Add(wait); t.After(p.Fetch.NextTry) {
		p.Fetch.NextTry = t
		p.Fetch.Why = fmt.Sprintf("%d results in a row failed here", p.Fetch.Errors)
	}
	a.db.Projects.Put(tx, project, p)
}

// errorReport is the text that goes with a result that failed, in the form that
// projects' web sites know how to show.
func errorReport(message, stderr string) string {
	s := "<core_client_version>" + compat() + "</core_client_version>\n<message>\n" + message + "\n</message>\n"
	if stderr != "" {
		s += "<stderr_txt>\n" + stderr + "\n</stderr_txt>\n"
	}
	return s
}

func compat() string {
	v := protocol.CompatVersion
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Release)
}
