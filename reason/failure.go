package reason

import (
	"strconv"
	"strings"

	"github.com/starling-grid/starling/internal/words"
)

// The causes of a task's failure.
const (
	Crashed          Code = "crashed"
	ExitStatus       Code = "exit_status"
	NeverFinished    Code = "ended_too_often"
	DiskLimit        Code = "disk_limit"
	TimeLimit        Code = "time_limit"
	MemoryLimit      Code = "memory_limit"
	NotStarted       Code = "could_not_start"
	NoInterpreter    Code = "interpreter_missing"
	WrongComputer    Code = "not_for_this_computer"
	NotExecutable    Code = "not_executable"
	OwnFileMissing   Code = "own_file_missing"
	ManyProcesses    Code = "process_limit"
	NeverEnded       Code = "did_not_end"
	InputMissing     Code = "input_missing"
	ProgramMissing   Code = "program_missing"
	InputDamaged     Code = "input_damaged"
	BadSignature     Code = "bad_signature"
	DownloadFailed   Code = "download_failed"
	OutputWrong      Code = "output_wrong"
	UploadFailed     Code = "upload_failed"
	OutputGone       Code = "output_gone"
	TransferCanceled Code = "transfer_canceled"
	LateStart        Code = "not_started_by_deadline"
	AbortedByProject Code = "aborted_by_project"
	AbortedByUser    Code = "aborted_by_user"
	AbortedByManager Code = "aborted_by_manager"
	OtherFailure     Code = "failed"
)

const (
	nomore = "To fetch no more of its tasks: starling nomorework {url}"
	theirs = "This is usually a fault of the project's application: look on the project's web site whether others report it. " + nomore
	limit  = "The limit is the project's. Look on its web site whether others report it. " + nomore
	files  = "The project's operators must fix this. To fetch its files again: starling reset {url}"
)

// Failures are the causes of a task's failure. Their texts are the ends of sentences.
var Failures = []Entry{
	{Crashed, "its application crashed ({about})", "its application crashed", theirs},
	{ExitStatus, "its application reported an error ({about})", "its application reported an error", theirs},
	{NeverFinished, "its application ended 100 times without finishing or saving its work", "", theirs},
	{DiskLimit, "it used more disk space than its project allows", "", limit},
	{TimeLimit, "it computed longer than its project allows", "", limit},
	{MemoryLimit, "it used more memory than its project or your preferences allow", "", "You can allow more memory with ram_max_used_busy_pct and ram_max_used_idle_pct, if the task's need is below this computer's memory. " + limit},
	{NotStarted, "its application could not be started ({about})", "its application could not be started", "Run starling doctor. If it finds nothing, the application does not fit this computer. " + nomore},
	{NoInterpreter, "{about}, which its program needs to be started, is not on this computer", "what its program needs to be started, an interpreter or a loader, is not on this computer", "Install it, if the project's web site says that it is needed. " + nomore},
	{WrongComputer, "its program is not made for this kind of computer", "", "The project's operators must fix this. " + nomore},
	{NotExecutable, "this computer does not let its program be run", "", "Check that the data directory is on a file system that is not mounted with noexec, and that no security software blocks programs there. " + nomore},
	{OwnFileMissing, "your file {about} (app_info.xml) cannot be read", "a file of yours (app_info.xml) cannot be read", "Put the file back, or correct app_info.xml in the project's folder. Then: starling update {url}"},
	{ManyProcesses, "its application started more processes than max_processes in starling.toml allows", "", "If the project says that its application needs more, set max_processes higher. " + nomore},
	{NeverEnded, "its application did not end after it had finished", "", theirs},
	{InputMissing, "its input file {about} is not on the project's server", "an input file is not on the project's server", files},
	{ProgramMissing, "the file {about} of its application is not on the project's server", "a file of its application is not on the project's server", "The project's operators must fix this. " + nomore},
	{InputDamaged, "its file {about} differs from what the project announced", "one of its files differs from what the project announced", "If a proxy or a virus scanner changes downloads, exempt the project's server. Otherwise the project's operators must fix this."},
	{BadSignature, "its program file {about} has no valid signature, so it was not run", "a program file has no valid signature, so it was not run", "Keep it so: only programs signed by the project are run. Inform the project. " + nomore},
	{DownloadFailed, "its file {about} could not be downloaded", "one of its files could not be downloaded", files},
	{OutputWrong, "its application left no usable output ({about})", "its application left no usable output", theirs},
	{UploadFailed, "the project's server did not take its output file {about}", "the project's server did not take an output file", "The project's operators must fix this. " + nomore},
	{OutputGone, "its output file {about} was removed from this computer before it was uploaded", "an output file was removed from this computer before it was uploaded", "Find out what removes files from the data directory, such as a virus scanner or a clean-up program, and exempt the directory."},
	{TransferCanceled, "you canceled the transfer of its file {about}", "you canceled the transfer of a file", "Nothing is wrong with this computer."},
	{LateStart, "its deadline passed before it was started", "", "If this happens often, keep fewer tasks queued: set work_buf_min_days and work_buf_additional_days to less."},
	{AbortedByProject, "the project no longer needs it and aborted it", "", "Nothing is wrong with this computer."},
	{AbortedByUser, "you aborted it", "", "Nothing is wrong with this computer."},
	{AbortedByManager, "your account manager aborted it", "", "Nothing is wrong with this computer."},
	{OtherFailure, "an unknown error occurred", "", theirs},
}

// Computer reports whether a failure indicates that this computer's tasks of the project fail. The
// others were ended on purpose.
func (r Reason) Computer() bool {
	switch r.Code {
	case "", AbortedByProject, AbortedByUser, AbortedByManager, TransferCanceled:
		return false
	}
	return true
}

// Ended returns a sentence about how a task that is ready to be reported failed.
func (r Reason) Ended() words.Text {
	reported := words.T("It will be reported at the next contact.")
	switch r.Code {
	case AbortedByProject:
		return words.And(words.T("The project no longer needs this task and aborted it."), reported)
	case AbortedByUser:
		return words.And(words.T("You aborted this task."), reported)
	case AbortedByManager:
		return words.And(words.T("Your account manager aborted this task."), reported)
	}
	var wrote words.Text
	if r.Detail != "" {
		wrote = words.T("The last line that its application wrote: {line}.", "line", strconv.Quote(r.Detail[strings.LastIndexByte(r.Detail, '\n')+1:]))
	}
	return words.And(words.T("Failed: {cause}.", "cause", r.Text(r.Since)), wrote, reported)
}

// Failing returns a sentence that the last n tasks of a project failed, with the reason of the last
// failure.
func (r Reason) Failing(n int) words.Text {
	return words.Plural(max(n, 1), "The last task, {task}, failed because {cause}.", "The last {n} tasks failed, most recently {task} because {cause}.",
		"task", r.Task, "cause", r.Text(r.Since))
}
