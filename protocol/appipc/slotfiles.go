package appipc

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// Names of the files in a slot that are part of the interface.
const (
	InitDataFile      = "init_data.xml"
	MmapFile          = "boinc_mmap_file"
	LockFile          = "boinc_lockfile"
	StderrFile        = "stderr.txt"
	StdoutFile        = "stdout.txt"
	FinishFile        = "boinc_finish_called"
	TemporaryExitFile = "boinc_temporary_exit"
	TaskStateFile     = "boinc_task_state.xml"
	SetupFile         = "boinc_setup_complete"
	TrickleUpFile     = "trickle_up.xml"
	UploadRequest     = "boinc_ufr_"    // prefix of files that each request an output to be uploaded now
	UploadStatus      = "boinc_ufs_"    // prefix of files that each contain the outcome of an upload
	TrickleDownPrefix = "trickle_down_" // prefix of messages from the server
)

// ImageVariable is the variable of the environment of a program in a container image. Its value is
// the image's ID.
const ImageVariable = "STARLING_IMAGE"

// ImageLibraries is the variable of the environment whose value is a folder in which programs of a
// container image find a driver's shared libraries. It need not be set.
const ImageLibraries = "STARLING_IMAGE_LIBRARIES"

// Own reports whether a file in a slot belongs to the interface, rather than to the task.
func Own(name string) bool {
	switch name {
	case InitDataFile, MmapFile, LockFile, StderrFile, StdoutFile, FinishFile, TemporaryExitFile, TaskStateFile, SetupFile, TrickleUpFile:
		return true
	}
	return false
}

// TrickleName returns the name of an application's message in the project's folder, where it stays
// until the server has it.
func TrickleName(result string, at time.Time) string {
	return fmt.Sprintf("trickle_up_%s_%d.xml", result, at.Unix())
}

// ParseTrickleName is the inverse of TrickleName. ok is false for other names.
func ParseTrickleName(name string) (result string, at time.Time, ok bool) {
	name, up := strings.CutPrefix(name, "trickle_up_")
	name, xml := strings.CutSuffix(name, ".xml")
	i := strings.LastIndexByte(name, '_')
	if !up || !xml || i < 1 {
		return "", time.Time{}, false
	}
	sec, err := strconv.ParseInt(name[i+1:], 10, 64)
	return name[:i], time.Unix(sec, 0), err == nil
}

// maxSoftLink is the number of bytes of a soft-link file that BOINC's applications read.
const maxSoftLink = 511

// SoftLink returns the content of a file that makes an application open target instead. target is a
// slash-separated path relative to the slot.
func SoftLink(target string) []byte {
	return []byte("<soft_link>" + target + "</soft_link>\n")
}

// ParseSoftLink returns the target of a soft-link file. The start of its content is enough. ok is
// false if it is not a soft link, but the file itself.
func ParseSoftLink(content []byte) (target string, ok bool) {
	line, _, _ := bytes.Cut(content[:min(len(content), maxSoftLink)], []byte("\n"))
	_, rest, found := bytes.Cut(line, []byte("<soft_link>"))
	if !found {
		return "", false
	}
	t, _, found := bytes.Cut(rest, []byte("</soft_link>"))
	return string(t), found && len(t) > 0
}

// A Finish is the message that an application writes when its work is done.
type Finish struct {
	Status  int
	Message string // for the user, one line, may be empty
	Notice  bool   // the message is worth a notice, not only a log line
}

// Encode returns the content of FinishFile.
func (f Finish) Encode() []byte {
	out := strconv.Itoa(f.Status) + "\n"
	if f.Message != "" {
		out += oneLine(f.Message) + "\n" + notice(f.Notice) + "\n"
	}
	return []byte(out)
}

// ParseFinish reads FinishFile. It never fails: the existence of the file means that the
// application has finished, whatever its text. A number that cannot be read is 0.
func ParseFinish(b []byte) Finish {
	lines := append(strings.SplitN(string(b), "\n", 4), "", "", "")
	status, _ := strconv.Atoi(strings.TrimSpace(lines[0]))
	return Finish{
		Status:  status,
		Message: strings.TrimSpace(lines[1]),
		Notice:  strings.TrimSpace(lines[2]) == "notice",
	}
}

// A TemporaryExit asks the client to start the application again later.
type TemporaryExit struct {
	Delay  time.Duration
	Reason string // one line, without which clients ignore the file
	Notice bool
}

// Encode returns the content of TemporaryExitFile.
func (t TemporaryExit) Encode() []byte {
	return fmt.Appendf(nil, "%d\n%s\n%s\n", int(t.Delay.Seconds()), oneLine(t.Reason), notice(t.Notice))
}

// ParseTemporaryExit reads TemporaryExitFile. ok is false without a reason. A delay of more than a
// day or less than zero becomes five minutes, as in BOINC's client.
func ParseTemporaryExit(b []byte) (t TemporaryExit, ok bool) {
	lines := append(strings.SplitN(string(b), "\n", 4), "", "", "")
	t.Delay = 300 * time.Second
	if n, err := strconv.Atoi(strings.TrimSpace(lines[0])); err == nil && n >= 0 && n <= 86400 {
		t.Delay = time.Duration(n) * time.Second
	}
	t.Reason = strings.TrimSpace(lines[1])
	t.Notice = strings.TrimSpace(lines[2]) == "notice"
	return t, t.Reason != ""
}

// A TaskState is the record that a client stores of a run at each checkpoint.
type TaskState struct {
	ProjectURL   string // the master URL
	ResultName   string
	CPUTime      time.Duration // at the checkpoint, over all runs
	Elapsed      time.Duration
	FractionDone float64

	PeakWorkingSet, PeakSwap, PeakDisk int64 // bytes
}

// Encode returns the content of TaskStateFile.
func (t TaskState) Encode() []byte {
	var w bxml.Writer
	w.Element("active_task", t.fields)
	return w.Bytes()
}

// ParseTaskState reads TaskStateFile.
func ParseTaskState(b []byte) (TaskState, error) {
	var t TaskState
	if err := bxml.NewScanner(b).Decode("active_task", t.fields); err != nil {
		return TaskState{}, fmt.Errorf("parse %s: %w", TaskStateFile, err)
	}
	t.CPUTime, t.Elapsed = max(t.CPUTime, 0), max(t.Elapsed, 0)
	t.FractionDone = min(max(t.FractionDone, 0), 1)
	return t, nil
}

func (t *TaskState) fields(x bxml.Codec) {
	x.Text("project_master_url", &t.ProjectURL)
	x.Text("result_name", &t.ResultName)
	duration(x, "checkpoint_cpu_time", &t.CPUTime)
	duration(x, "checkpoint_elapsed_time", &t.Elapsed)
	x.Float("fraction_done", &t.FractionDone)
	wholeBytes(x, "peak_working_set_size", &t.PeakWorkingSet)
	wholeBytes(x, "peak_swap_size", &t.PeakSwap)
	wholeBytes(x, "peak_disk_usage", &t.PeakDisk)
}

func notice(v bool) string {
	if v {
		return "notice"
	}
	return ""
}

func oneLine(s string) string {
	return strings.TrimSpace(strings.NewReplacer("\n", " ", "\r", " ").Replace(s))
}
