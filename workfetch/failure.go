package workfetch

import (
	"fmt"
	"strings"
	"time"
)

// A FailureCode identifies the cause of a task's failure. The codes are in the state on disk and in
// JSON, so existing ones must not change.
type FailureCode string

// The causes.
const (
	Crashed          FailureCode = "crashed"
	ExitStatus       FailureCode = "exit_status"
	NeverFinished    FailureCode = "ended_too_often"
	DiskLimit        FailureCode = "disk_limit"
	TimeLimit        FailureCode = "time_limit"
	MemoryLimit      FailureCode = "memory_limit"
	NotStarted       FailureCode = "could_not_start"
	NoInterpreter    FailureCode = "interpreter_missing"
	WrongComputer    FailureCode = "not_for_this_computer"
	NotExecutable    FailureCode = "not_executable"
	OwnFileMissing   FailureCode = "own_file_missing"
	ManyProcesses    FailureCode = "process_limit"
	NeverEnded       FailureCode = "did_not_end"
	InputMissing     FailureCode = "input_missing"
	ProgramMissing   FailureCode = "program_missing"
	InputDamaged     FailureCode = "input_damaged"
	BadSignature     FailureCode = "bad_signature"
	DownloadFailed   FailureCode = "download_failed"
	OutputWrong      FailureCode = "output_wrong"
	UploadFailed     FailureCode = "upload_failed"
	OutputGone       FailureCode = "output_gone"
	Canceled         FailureCode = "transfer_canceled"
	LateStart        FailureCode = "not_started_by_deadline"
	AbortedByProject FailureCode = "aborted_by_project"
	AbortedByUser    FailureCode = "aborted_by_user"
	OtherFailure     FailureCode = "failed"
)

// A Failure describes how a task failed. The zero value means no failure.
type Failure struct {
	Task   string      `json:"task,omitempty"`
	Code   FailureCode `json:"code,omitempty"`
	About  string      `json:"about,omitempty"`  // the signal, file or status that the sentence names
	Stderr string      `json:"stderr,omitempty"` // the last lines that its application wrote
	At     time.Time   `json:"at,omitzero"`
}

// A FailureSaying is the text for people about a cause: half a sentence, in which %s is replaced by
// About, and the remedy.
type FailureSaying struct {
	Code    FailureCode
	Cause   string
	Unnamed string // when About is not known ("": the cause names nothing)
	Cure    string
}

const (
	nomore = "To fetch no more of its tasks: starling nomorework URL"
	theirs = "This is usually a fault of the project's application: look on the project's web site whether others report it. " + nomore
	limit  = "The limit is the project's. Look on its web site whether others report it. " + nomore
	files  = "The project's operators must fix this. To fetch its files again: starling reset URL"
)

// FailureSayings is the closed list of causes.
var FailureSayings = []FailureSaying{
	{Crashed, "its application crashed (%s)", "its application crashed", theirs},
	{ExitStatus, "its application reported an error (%s)", "its application reported an error", theirs},
	{NeverFinished, "its application ended 100 times without finishing or saving its work", "", theirs},
	{DiskLimit, "it used more disk space than its project allows", "", limit},
	{TimeLimit, "it computed longer than its project allows", "", limit},
	{MemoryLimit, "it used more memory than its project or your preferences allow", "", "You can allow more memory with ram_max_used_busy_pct and ram_max_used_idle_pct, if the task's need is below this computer's memory. " + limit},
	{NotStarted, "its application could not be started (%s)", "its application could not be started", "Run starling doctor. If it finds nothing, the application does not fit this computer. " + nomore},
	{NoInterpreter, "%s, which its program needs to be started, is not on this computer", "what its program needs to be started, an interpreter or a loader, is not on this computer", "Install it, if the project's web site says that it is needed. " + nomore},
	{WrongComputer, "its program is not made for this kind of computer", "", "The project's operators must fix this. " + nomore},
	{NotExecutable, "this computer does not let its program be run", "", "Check that the data directory is on a file system that is not mounted with noexec, and that no security software blocks programs there. " + nomore},
	{OwnFileMissing, "your file %s (app_info.xml) cannot be read", "a file of yours (app_info.xml) cannot be read", "Put the file back, or correct app_info.xml in the project's folder. Then: starling update URL"},
	{ManyProcesses, "its application started more processes than max_processes in starling.toml allows", "", "If the project says that its application needs more, set max_processes higher. " + nomore},
	{NeverEnded, "its application did not end after it had finished", "", theirs},
	{InputMissing, "its input file %s is not on the project's server", "an input file is not on the project's server", files},
	{ProgramMissing, "the file %s of its application is not on the project's server", "a file of its application is not on the project's server", "The project's operators must fix this. " + nomore},
	{InputDamaged, "its file %s differs from what the project announced", "one of its files differs from what the project announced", "If a proxy or a virus scanner changes downloads, exempt the project's server. Otherwise the project's operators must fix this."},
	{BadSignature, "its program file %s has no valid signature, so it was not run", "a program file has no valid signature, so it was not run", "Keep it so: only programs signed by the project are run. Inform the project. " + nomore},
	{DownloadFailed, "its file %s could not be downloaded", "one of its files could not be downloaded", files},
	{OutputWrong, "its application left no usable output (%s)", "its application left no usable output", theirs},
	{UploadFailed, "the project's server did not take its output file %s", "the project's server did not take an output file", "The project's operators must fix this. " + nomore},
	{OutputGone, "its output file %s was removed from this computer before it was uploaded", "an output file was removed from this computer before it was uploaded", "Find out what removes files from the data directory, such as a virus scanner or a clean-up program, and exempt the directory."},
	{Canceled, "you canceled the transfer of its file %s", "you canceled the transfer of a file", "Nothing is wrong with this computer."},
	{LateStart, "its deadline passed before it was started", "", "If this happens often, keep fewer tasks queued: set work_buf_min_days and work_buf_additional_days to less."},
	{AbortedByProject, "the project no longer needs it and aborted it", "", "Nothing is wrong with this computer."},
	{AbortedByUser, "you aborted it", "", "Nothing is wrong with this computer."},
	{OtherFailure, "an unknown error occurred", "", theirs},
}

// Is reports whether there is one.
func (f Failure) Is() bool { return f.Code != "" }

// Computer reports whether the failure indicates that this computer's tasks of the project fail.
// The others were ended on purpose.
func (f Failure) Computer() bool {
	switch f.Code {
	case "", AbortedByProject, AbortedByUser, Canceled:
		return false
	}
	return true
}

func (f Failure) saying() FailureSaying {
	for _, s := range FailureSayings {
		if s.Code == f.Code {
			return s
		}
	}
	return FailureSaying{Cause: "an unknown error occurred", Cure: theirs}
}

// Cause returns why the task failed, as the end of a sentence. It returns "" without a failure.
func (f Failure) Cause() string {
	s := f.saying()
	switch {
	case !f.Is():
		return ""
	case !strings.Contains(s.Cause, "%s"):
		return s.Cause
	case f.About == "":
		return s.Unnamed
	}
	return fmt.Sprintf(s.Cause, f.About)
}

// Cure returns the remedy. It returns "" without a failure.
func (f Failure) Cure(masterURL string) string {
	if !f.Is() {
		return ""
	}
	return strings.ReplaceAll(f.saying().Cure, "URL", masterURL)
}

// Ended returns a sentence about how a task that is ready to be reported failed.
func (f Failure) Ended() string {
	text := "Failed: " + f.Cause() + "."
	switch f.Code {
	case AbortedByProject:
		return "The project no longer needs this task and aborted it. It will be reported at the next contact."
	case AbortedByUser:
		return "You aborted this task. It will be reported at the next contact."
	}
	if f.Stderr != "" {
		text += fmt.Sprintf(" The last line that its application wrote: %q.", f.Stderr[strings.LastIndexByte(f.Stderr, '\n')+1:])
	}
	return text + " It will be reported at the next contact."
}

// Failing returns a sentence that the last n tasks of a project failed, with the reason of the last
// failure.
func (f Failure) Failing(n int) string {
	if n <= 1 {
		return fmt.Sprintf("The last task, %s, failed because %s.", f.Task, f.Cause())
	}
	return fmt.Sprintf("The last %d tasks failed, most recently %s because %s.", n, f.Task, f.Cause())
}
