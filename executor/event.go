package executor

import (
	"strconv"
	"time"

	"github.com/starling-grid/starling/reason"
)

// A Verdict is the outcome of a process's end for its result.
type Verdict int

// The verdicts. After WillRestart and Postponed the slot is kept and the result may be started
// again. All others are final.
const (
	Success      Verdict = 1
	ComputeError Verdict = 2
	Aborted      Verdict = 3
	WillRestart  Verdict = 4 // it exited before it was done: because it was asked to, or without a reason
	Postponed    Verdict = 5 // it asked to be started again after Exited.Delay
)

// String returns the verdict in words.
func (v Verdict) String() string {
	switch v {
	case Success:
		return "success"
	case ComputeError:
		return "compute error"
	case Aborted:
		return "aborted"
	case WillRestart:
		return "will restart"
	case Postponed:
		return "postponed"
	}
	return "verdict " + strconv.Itoa(int(v))
}

// Over reports whether the result will not run again.
func (v Verdict) Over() bool { return v == Success || v == ComputeError || v == Aborted }

// An Event is an Exited, a Checkpointed, a TrickledUp or an UploadRequested.
type Event interface{ event() }

// Exited is the last event after each successful Start.
type Exited struct {
	Result         string
	Slot           int
	Verdict        Verdict
	ExitStatus     int           // as BOINC reports it: the exit status, a signal's wait status, or an error number below 0
	Message        string        // the reason, for the project's server and the volunteer, or empty
	Delay          time.Duration // if Postponed, how long to wait
	Reason         reason.Reason // if Postponed or failed
	Stderr         string        // the last 63 KiB of stderr.txt, if the result is over
	CPUTime        time.Duration // over all runs
	Elapsed        time.Duration // over all runs
	Used           time.Duration // CPU time of this run, see Progress.Used
	PeakWorkingSet int64         // bytes, over all runs
	PeakSwap       int64         // bytes of virtual memory, which BOINC calls swap, over all runs, or 0 if unknown
	PeakDisk       int64         // bytes, over all runs, measured now and then and at the end
	Outputs        []Output      // if the result is over
}

// Checkpointed reports that the application's work so far survives a restart.
type Checkpointed struct {
	Result   string
	CPUTime  time.Duration
	Elapsed  time.Duration
	Fraction float64
}

// TrickledUp reports that the application has a message for its project's server.
type TrickledUp struct {
	Result string
	File   string // in the project's folder, with the content that is sent in the request
}

// UploadRequested reports that the application wants an output to be uploaded while it keeps
// running. UploadEnded reports the outcome to the application.
type UploadRequested struct {
	Result string
	Output Output
}

func (TrickledUp) event()      {}
func (UploadRequested) event() {}
func (Exited) event()          {}
func (Checkpointed) event()    {}

// An Output is an output file as it was found at the end.
type Output struct {
	Physical, Logical string
	NBytes            int64
	MD5               string // hexadecimal
	Missing           bool   // whether the file does not exist, which is an error only if Err is set
	Err               error  // why it cannot be uploaded: an *OutputError, or a problem with the disk
}

// Progress describes how far a run has come.
type Progress struct {
	PID      int // 0 while the slot is being prepared
	Fraction float64
	CPUTime  time.Duration // over all runs, of all processes
	Elapsed  time.Duration // over all runs, without the time while suspended
	// Used is the CPU time of this run as the system measures it. It is the application's own
	// figure only if other processes than the run's compute for it, such as a virtual machine.
	Used              time.Duration
	CheckpointCPUTime time.Duration
	CheckpointElapsed time.Duration
	WorkingSet        int64 // bytes, of all processes
	PeakWorkingSet    int64
	PeakSwap          int64 // bytes of virtual memory
	Disk              int64 // bytes of slot and outputs when last measured
	PeakDisk          int64
	Graphics          string // where its graphics can be seen: the address of a web page or of a remote desktop
	Suspended         bool
	Listens           bool // it has shown that it uses BOINC's interface
	WithoutCheckpoint bool // it has never written one: quitting it loses all its work
}
