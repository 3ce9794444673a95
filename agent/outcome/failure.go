// Package outcome finds how a result ended on this computer, from the durable records: the cause of its
// failure, and its entry in the history.
package outcome

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// The part of a failed application's output that is shown to people.
const (
	stderrLines = 4
	stderrLine  = 200 // bytes
)

// goodbye is what BOINC's library, or Starling's, writes for every application.
var goodbye = regexp.MustCompile(`called (?:boinc_)?finish\(-?\d+\)$`)

// Failure returns how a result failed, or the zero value if it did not.
func Failure(db *state.DB, r state.Result) reason.Reason {
	f := reason.Reason{Task: r.Name, Since: r.Completed, Detail: lastLines(r.Stderr)}
	switch {
	case !r.ReadyToReport || r.Message == "" && r.ExitStatus == 0:
		return reason.Reason{}
	case r.Cause.Is():
		cause := r.Cause.Or(reason.OtherFailure)
		f.Code, f.About = cause.Code, cause.About
	case r.ExitStatus == protocol.ExitAbortedByUser && r.Message == AbortedByManager:
		f.Code = reason.AbortedByManager
	case r.ExitStatus == protocol.ExitDownloadFailed:
		f.Code, f.About = download(db, r)
	case r.ExitStatus == protocol.ExitUploadFailed:
		f.Code, f.About = upload(failedFile(db, r, r.FileRefs))
	default:
		f.Code, f.About = ofStatus(r.ExitStatus)
	}
	return f
}

// statuses are the failures that an exit status identifies.
var statuses = map[int]reason.Code{
	0:                             reason.OutputWrong, // its program ended well
	protocol.ExitAbortedByProject: reason.AbortedByProject,
	protocol.ExitAbortedByUser:    reason.AbortedByUser,
	protocol.ExitUnstartedLate:    reason.LateStart,
	protocol.ExitDiskLimit:        reason.DiskLimit,
	protocol.ExitTimeLimit:        reason.TimeLimit,
	protocol.ExitMemoryLimit:      reason.MemoryLimit,
	protocol.ExitTooManyExits:     reason.NeverFinished,
	protocol.ExitStartFailed:      reason.NotStarted,
}

// ofStatus returns how a result failed by its exit status alone.
func ofStatus(status int) (reason.Code, string) {
	switch code, known := statuses[status]; {
	case known:
		return code, ""
	case status < 0: // a number of BOINC's
		return reason.OtherFailure, ""
	}
	return reason.ExitStatus, fmt.Sprintf("exit status %d", status)
}

// download returns why a result's input files could not be downloaded.
func download(db *state.DB, r state.Result) (reason.Code, string) {
	file := failedFile(db, r, db.Inputs(r))
	if file.Obstacle.Code == reason.Canceled {
		return reason.TransferCanceled, file.Name
	}
	switch file.ErrNum {
	case protocol.ErrNumMD5, protocol.ErrNumWrongSize:
		return reason.InputDamaged, file.Name
	case protocol.ErrNumSignature, protocol.ErrNumNoSignature:
		return reason.BadSignature, file.Name
	}
	if file.Obstacle.Code != reason.NotOnServer {
		return reason.DownloadFailed, file.Name
	}
	about := file.Name + " (" + file.Obstacle.About + ")"
	v, _ := db.Versions.Get(r.Version)
	if slices.ContainsFunc(v.FileRefs, func(ref protocol.FileRef) bool { return ref.FileName == file.Name }) {
		return reason.ProgramMissing, about
	}
	return reason.InputMissing, about
}

// upload returns why an output file was not uploaded.
func upload(file state.File) (reason.Code, string) {
	switch file.Obstacle.Code {
	case reason.Canceled:
		return reason.TransferCanceled, file.Name
	case reason.FileGone:
		return reason.OutputGone, file.Name
	}
	return reason.UploadFailed, file.Name
}

// failedFile returns the first of them that could not be transferred, or a file without a name.
func failedFile(db *state.DB, r state.Result, refs []protocol.FileRef) state.File {
	for _, ref := range refs {
		if f, ok := db.Files.Get(state.Key(r.Project, ref.FileName)); ok && f.Local == state.FileFailed {
			return f
		}
	}
	return state.File{}
}

func cut(s string) string {
	if len(s) <= stderrLine {
		return s
	}
	return strings.ToValidUTF8(s[:stderrLine], "") + "…"
}

// lastLines returns the last lines that an application wrote, from the report of its failure.
func lastLines(report string) string {
	var lines []string
	for line := range strings.Lines(Written(report)) {
		if line = strings.TrimSpace(line); line != "" && !goodbye.MatchString(line) {
			lines = append(lines, cut(line))
		}
	}
	return strings.Join(lines[max(0, len(lines)-stderrLines):], "\n")
}

// Written returns an application's output, from the report of its end, or "". The
// report of a task that was given up after its end contains the report of its end.
func Written(report string) string {
	_, text, _ := strings.Cut(report, "<stderr_txt>\n")
	end := strings.LastIndex(text, "\n</stderr_txt>")
	if end < 0 {
		return ""
	}
	if text = text[:end]; strings.HasPrefix(text, "<core_client_version>") {
		return Written(text)
	}
	return text
}

// Failed returns how the last task of a project failed, from the durable record, or the zero value
// if one has succeeded since.
func Failed(p state.Project) reason.Reason {
	f := p.Fetch.Failure
	if p.Fetch.Errors == 0 {
		return reason.Reason{}
	}
	return reason.Reason{Task: f.Task, Code: f.Code, About: f.About, Detail: f.Stderr, Since: f.At}.Or(reason.OtherFailure)
}
