package view

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/starling-grid/starling/obstacle"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
	"github.com/starling-grid/starling/workfetch"
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
func Failure(db *state.DB, r state.Result) workfetch.Failure {
	f := workfetch.Failure{Task: r.Name, At: r.Completed, Stderr: lastLines(r.Stderr)}
	switch {
	case !r.ReadyToReport || r.Message == "" && r.ExitStatus == 0:
		return workfetch.Failure{}
	case r.ExitStatus == protocol.ExitAbortedByProject:
		f.Code = workfetch.AbortedByProject
	case r.ExitStatus == protocol.ExitAbortedByUser:
		f.Code = workfetch.AbortedByUser
	case r.ExitStatus == protocol.ExitUnstartedLate:
		f.Code = workfetch.LateStart
	case r.ExitStatus == protocol.ExitDiskLimit:
		f.Code = workfetch.DiskLimit
	case r.ExitStatus == protocol.ExitTimeLimit:
		f.Code = workfetch.TimeLimit
	case r.ExitStatus == protocol.ExitMemoryLimit:
		f.Code = workfetch.MemoryLimit
	case r.ExitStatus == protocol.ExitTooManyExits:
		f.Code = workfetch.NeverFinished
	case r.ExitStatus == protocol.ExitStartFailed:
		f.Code, f.About = workfetch.FailureCode(cmp.Or(r.Cause.Code, string(workfetch.NotStarted))), r.Cause.About
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
func computing(r state.Result) (workfetch.FailureCode, string) {
	if m := outputFile.FindStringSubmatch(r.Message); m != nil {
		return workfetch.OutputWrong, m[1] + ": " + m[2]
	}
	if m := signal.FindStringSubmatch(r.Message); m != nil {
		about := "signal " + m[1]
		if name := signals[m[1]]; name != "" {
			about += ", " + name
		}
		return workfetch.Crashed, about
	}
	if m := exitCode.FindStringSubmatch(r.Message); m != nil {
		if m[3] != "" { // the kind of crash, on Windows
			return workfetch.Crashed, m[2] + ", " + firstLine(m[3])
		}
		about := "exit status " + m[1]
		before, _, _ := strings.Cut(r.Message, m[0])
		if own := firstLine(before); own != "" {
			about += ": " + own
		}
		return workfetch.ExitStatus, about
	}
	switch {
	case strings.HasPrefix(r.Message, "exceeded process limit"):
		return workfetch.ManyProcesses, ""
	case strings.HasPrefix(r.Message, "finish file present too long"):
		return workfetch.NeverEnded, ""
	case r.ExitStatus == 0: // its program ended well
		return workfetch.OutputWrong, ""
	case r.ExitStatus < 0: // a number of BOINC's
		return workfetch.OtherFailure, ""
	}
	return workfetch.ExitStatus, fmt.Sprintf("exit status %d", r.ExitStatus)
}

// download returns why a result's input files could not be downloaded.
func download(db *state.DB, r state.Result) (workfetch.FailureCode, string) {
	file := failedFile(db, r, db.Inputs(r))
	if obstacle.Code(file.Obstacle.Code) == obstacle.Canceled {
		return workfetch.Canceled, file.Name
	}
	switch file.ErrNum {
	case protocol.ErrNumMD5, protocol.ErrNumWrongSize:
		return workfetch.InputDamaged, file.Name
	case protocol.ErrNumSignature, protocol.ErrNumNoSignature:
		return workfetch.BadSignature, file.Name
	}
	m := httpStatus.FindString(file.Error)
	if v, ok := db.Versions.Get(r.Version); m != "" && ok && slices.ContainsFunc(v.FileRefs, func(ref protocol.FileRef) bool { return ref.FileName == file.Name }) {
		return workfetch.ProgramMissing, file.Name + " (" + m + ")"
	}
	if m != "" {
		return workfetch.InputMissing, file.Name + " (" + m + ")"
	}
	return workfetch.DownloadFailed, file.Name
}

// upload returns why an output file was not uploaded.
func upload(file state.File) (workfetch.FailureCode, string) {
	switch obstacle.Code(file.Obstacle.Code) {
	case obstacle.Canceled:
		return workfetch.Canceled, file.Name
	case obstacle.FileGone:
		return workfetch.OutputGone, file.Name
	}
	return workfetch.UploadFailed, file.Name
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
func Failed(p state.Project) workfetch.Failure {
	f := p.Fetch.Failure
	if p.Fetch.Errors == 0 {
		return workfetch.Failure{}
	}
	return workfetch.Failure{Task: f.Task, Code: workfetch.FailureCode(f.Code), About: f.About, Stderr: f.Stderr, At: f.At}
}
