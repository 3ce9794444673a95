package executor

import (
	"strconv"
	"time"

	"github.com/starling-grid/starling/obstacle"
)

// A Verdict is the meaning of a process's end for its result.
type Verdict int

// The verdicts. After WillRestart and Postponed the slot is kept and the result may be started
// again. After the others the result is over.
const (
	Success      Verdict = 1
	ComputeError Verdict = 2
	Aborted      Verdict = 3
	WillRestart  Verdict = 4 // it left before its end: on our command, or by itself
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

// Exited is the last event of each successful Start.
type Exited struct {
	Result         string
	Slot           int
	Verdict        Verdict
	ExitStatus     int               // as BOINC reports it: the process's status, a signal's wait status, or an error number below 0
	Message        string            // why; for the project's server and the volunteer; may be empty
	Delay          time.Duration     // how long to wait, if Postponed
	Obstacle       obstacle.Obstacle // why, if Postponed
	Stderr         string            // the last 63 KiB of stderr.txt, if the result is over
	CPUTime        time.Duration     // over all runs
	Elapsed        time.Duration     // over all runs
	Used           time.Duration     // CPU time of this run, as of a Progress
	PeakWorkingSet int64             // bytes, over all runs
	PeakSwap       int64             // bytes of virtual memory, which BOINC calls swap, over all runs, 0 if not known
	PeakDisk       int64             // bytes, over all runs: looked at now and then, and in the end
	Outputs        []Output          // if the result is over
}

// Checkpointed reports that the application's work up to now survives a restart.
type Checkpointed struct {
	Result   string
	CPUTime  time.Duration
	Elapsed  time.Duration
	Fraction float64
}

// TrickledUp reports that the application has a message for its project's server.
type TrickledUp struct {
	Result string
	File   string // in the project's folder; the message as it stands in the request
}

// UploadRequested says that the application wants an output to be sent while it
// goes on. It is told with UploadEnded.
type UploadRequested struct {
	Result string
	Output Output
}

func (TrickledUp) event()      {}
func (UploadRequested) event() {}
func (Exited) event()          {}
func (Checkpointed) event()    {}

// An Output is an output file as found at the end.
type Output struct {
	Physical, Logical string
	NBytes            int64
	MD5               string // hexadecimal
	Missing           bool   // there is no such file; an error only if Err is set
	Err               error  // why it cannot be uploaded; an *OutputError, or trouble with the disk
}

// Progress is how far a run has come.
type Progress struct {
	PID      int // 0 while the slot is being prepared
	Fraction float64
	CPUTime  time.Duration // over all runs, of all its processes
	Elapsed  time.Duration // over all runs, time while suspended excluded
	// Used is the CPU time of this run, as the system measures it; by its application's word
	// only if what computes for it is none of its processes, as a virtual machine.
	Used              time.Duration
	CheckpointCPUTime time.Duration
	CheckpointElapsed time.Duration
	WorkingSet        int64 // bytes, of all its processes
	PeakWorkingSet    int64
	PeakSwap          int64 // bytes of virtual memory
	Disk              int64 // bytes of slot and outputs when last looked at
	PeakDisk          int64
	Graphics          string // where its graphics can be seen: a web address or that of a remote desktop
	Suspended         bool
	Listens           bool // it has given a sign of knowing BOINC's interface
	WithoutCheckpoint bool // it has never written one: quitting it loses all its work
}
