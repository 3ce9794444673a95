package executor

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/obstacle"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
)

// maxPrematureExits is the number of times that an application may leave without giving a reason
// before its result is given up, unless it writes a checkpoint in between.
const maxPrematureExits = 100

// An ending is all that decides what a process's end means.
type ending struct {
	Quit        bool // we asked it to leave
	Abort       bool // we ended the result
	AbortStatus int
	AbortReason string

	Code       int  // exit status, if Signal is 0; of Windows' 32 bits as a signed number
	Signal     int  // that ended it, or 0
	WaitStatus int  // both, as the system encodes them
	FileTooBig bool // the system ended it for writing beyond the disk bound

	Finish    *appipc.Finish        // the finish file, if there is one
	Temporary *appipc.TemporaryExit // the temporary-exit file, if it is valid

	PrematureExits int // before this one, since the last checkpoint
}

// A judgement is what follows from an ending.
type judgement struct {
	Verdict    Verdict
	ExitStatus int
	Message    string
	Delay      time.Duration
	Obstacle   obstacle.Obstacle // of what is postponed
	Premature  bool              // counts towards maxPrematureExits
}

// restartSignals come from outside, as at a shutdown or from a system short of
// memory, and say nothing about the application: HUP, INT, QUIT, KILL, TERM and
// STOP by number, since judging is the same everywhere.
var restartSignals = map[int]bool{1: true, 2: true, 3: true, 9: true, 15: true, 19: true}

// judge says what the end of a process means.
//
// Source: BOINC client/app_control.cpp, ACTIVE_TASK::handle_exited_app.
// It differs in one case: an application that had finished when it was asked
// to quit is a success; upstream computes it again from its last checkpoint.
func judge(e ending) judgement {
	switch {
	case e.Abort:
		return judgement{Verdict: Aborted, ExitStatus: e.AbortStatus, Message: e.AbortReason}
	case e.Temporary != nil && e.Signal == 0 && !e.Quit:
		return premature(e, judgement{Verdict: Postponed, Message: e.Temporary.Reason, Delay: e.Temporary.Delay, Obstacle: obstacle.Obstacle{Code: obstacle.ApplicationAsk, About: e.Temporary.Reason}})
	case e.Finish != nil && e.Signal == 0 && e.Code == 0:
		return judgement{Verdict: Success, Message: e.Finish.Message}
	case e.Quit:
		return judgement{Verdict: WillRestart, Message: "asked to quit"}
	case restartSignals[e.Signal]:
		return premature(e, judgement{Verdict: WillRestart, Message: fmt.Sprintf("process got signal %d", e.Signal)})
	case e.Signal != 0:
		return judgement{Verdict: ComputeError, ExitStatus: e.WaitStatus, Message: fmt.Sprintf("process got signal %d", e.Signal)}
	case outsideStatus[uint32(e.Code)] != "": //nolint:gosec // codes have 32 bits at most
		return premature(e, judgement{Verdict: WillRestart, Message: fmt.Sprintf("process exited with code 0x%x: %s", uint32(e.Code), outsideStatus[uint32(e.Code)])}) //nolint:gosec // as above
	case e.Code != 0:
		message := exitMessage(e.Code)
		if e.Finish != nil && e.Finish.Message != "" {
			message = e.Finish.Message + "\n" + message
		}
		return judgement{Verdict: ComputeError, ExitStatus: e.Code, Message: message}
	}
	return premature(e, judgement{Verdict: WillRestart, Message: "exited with zero status but without a finish file"})
}

func premature(e ending, j judgement) judgement {
	if e.PrematureExits+1 >= maxPrematureExits {
		return judgement{Verdict: ComputeError, ExitStatus: protocol.ExitTooManyExits, Message: "too many exit(0)s"}
	}
	j.Premature = true
	return j
}

// An OutputError is a defect of an output file that makes its result a compute
// error. As with BOINC's client the exit status stays that of the process.
type OutputError struct {
	File string // physical name
	Code int    // BOINC's error number
	Text string
}

// Error returns what BOINC's client sends to the server in this case.
func (e *OutputError) Error() string {
	return fmt.Sprintf("upload failure: <file_xfer_error>\n  <file_name>%s</file_name>\n  <error_code>%d (%s)</error_code>\n</file_xfer_error>", e.File, e.Code, e.Text)
}

// judgeOutputs makes a success with a defective output a compute error. Trouble with
// the disk passes: what is there is looked at again, see adopt.
func judgeOutputs(j judgement, outputs []Output) judgement {
	if j.Verdict != Success {
		return j
	}
	for _, o := range outputs {
		if o.Err == nil {
			continue
		}
		if full := sysfault.DiskFull(o.Err); full || sysfault.DiskFails(o.Err) { // the disk's fault, not the application's
			hindered := obstacle.Obstacle{Code: obstacle.DiskFails}
			if full {
				hindered.Code = obstacle.DiskFull
			}
			return judgement{Verdict: Postponed, Message: o.Err.Error(), Delay: untilRoom, Obstacle: hindered}
		}
		if j.Verdict == ComputeError {
			j.Message += "\n" + o.Err.Error()
			continue
		}
		j.Verdict, j.Message = ComputeError, o.Err.Error()
	}
	return j
}
