package view

import (
	"cmp"
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

var (
	signal     = regexp.MustCompile(`process got signal (\d+)`)
	exitCode   = regexp.MustCompile(`process exited with code (-?\d+)(?: \((0x[0-9a-f]+)[^)]*\))?(?:: (.+))?`)
	outputFile = regexp.MustCompile(`(?s)<file_name>(.*?)</file_name>.*?\(([^)]*)\)`)
	goodbye    = regexp.MustCompile(`called (?:boinc_)?finish\(-?\d+\)$`) // what BOINC's library, or Starling's, writes for every application
	httpStatus = regexp.MustCompile(`HTTP (4\d\d)`)
)

var signals = map[string]string{
	"4": "illegal instruction", "5": "trace trap", "6": "it aborted itself", "7": "bus error", "8": "arithmetic error",
	"11": "segmentation fault", "24": "CPU time limit", "25": "file too large", "31": "a system call that the sandbox forbids",
}

// Failure returns how a result failed, or the zero value if it did not.
func Failure(db *state.DB, r state.Result) reason.Reason {
	f := reason.Reason{Task: r.Name, Since: r.Completed, Detail: lastLines(r.Stderr)}
	switch {
	case !r.ReadyToReport || r.Message == "" && r.ExitStatus == 0:
		return reason.Reason{}
	case r.ExitStatus == protocol.ExitAbortedByProject:
		f.Code = reason.AbortedByProject
	case r.ExitStatus == protocol.ExitAbortedByUser:
		f.Code = reason.AbortedByUser
	case r.ExitStatus == protocol.ExitUnstartedLate:
		f.Code = reason.LateStart
	case r.ExitStatus == protocol.ExitDiskLimit:
		f.Code = reason.DiskLimit
	case r.ExitStatus == protocol.ExitTimeLimit:
		f.Code = reason.TimeLimit
	case r.ExitStatus == protocol.ExitMemoryLimit:
		f.Code = reason.MemoryLimit
	case r.ExitStatus == protocol.ExitTooManyExits:
		f.Code = reason.NeverFinished
	case r.ExitStatus == protocol.ExitStartFailed:
		f.Code, f.About = cmp.Or(r.Cause.Code, reason.NotStarted), r.Cause.About
	case r.ExitStatus == protocol.ExitDownloadFailed:
		f.Code, f.About = download(db, r)
	case r.ExitStatus == protocol.ExitUploadFailed:
		f.Code, f.About = upload(failedFile(db, r, r.FileRefs))
	default:
		f.Code, f.About = computing(r)
	}
	return f
}

// computing returns how an application itself failed.
func computing(r state.Result) (reason.Code, string) {
	if m := outputFile.FindStringSubmatch(r.Message); m != nil {
		return reason.OutputWrong, m[1] + ": " + m[2]
	}
	if m := signal.FindStringSubmatch(r.Message); m != nil {
		about := "signal " + m[1]
		if name := signals[m[1]]; name != "" {
			about += ", " + name
		}
		return reason.Crashed, about
	}
	if m := exitCode.FindStringSubmatch(r.Message); m != nil {
		if m[3] != "" { // the kind of crash, on Windows
			return reason.Crashed, m[2] + ", " + firstLine(m[3])
		}
		about := "exit status " + m[1]
		before, _, _ := strings.Cut(r.Message, m[0])
		if own := firstLine(before); own != "" {
			about += ": " + own
		}
		return reason.ExitStatus, about
	}
	switch {
	case strings.HasPrefix(r.Message, "exceeded process limit"):
		return reason.ManyProcesses, ""
	case strings.HasPrefix(r.Message, "finish file present too long"):
		return reason.NeverEnded, ""
	case r.ExitStatus == 0: // its program ended well
		return reason.OutputWrong, ""
	case r.ExitStatus < 0: // a number of BOINC's
		return reason.OtherFailure, ""
	}
	return reason.ExitStatus, fmt.Sprintf("exit status %d", r.ExitStatus)
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
	m := httpStatus.FindString(file.Error)
	if v, ok := db.Versions.Get(r.Version); m != "" && ok && slices.ContainsFunc(v.FileRefs, func(ref protocol.FileRef) bool { return ref.FileName == file.Name }) {
		return reason.ProgramMissing, file.Name + " (" + m + ")"
	}
	if m != "" {
		return reason.InputMissing, file.Name + " (" + m + ")"
	}
	return reason.DownloadFailed, file.Name
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

// failedFile returns the first of them that could not be transferred, or a file without a name if
// there is none.
func failedFile(db *state.DB, r state.Result, refs []protocol.FileRef) state.File {
	for _, ref := range refs {
		if f, ok := db.Files.Get(state.Key(r.Project, ref.FileName)); ok && f.Local == state.FileFailed {
			return f
		}
	}
	return state.File{}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return cut(strings.TrimSuffix(line, "."))
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
	for line := range strings.Lines(written(report)) {
		if line = strings.TrimSpace(line); line != "" && !goodbye.MatchString(line) {
			lines = append(lines, cut(line))
		}
	}
	return strings.Join(lines[max(0, len(lines)-stderrLines):], "\n")
}

// written returns an application's output, from the report of its end, or "". The
// report of a task that was given up after its end contains the report of its end.
func written(report string) string {
	_, text, _ := strings.Cut(report, "<stderr_txt>\n")
	end := strings.LastIndex(text, "\n</stderr_txt>")
	if end < 0 {
		return ""
	}
	if text = text[:end]; strings.HasPrefix(text, "<core_client_version>") {
		return written(text)
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
