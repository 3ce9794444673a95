package executor

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/reason"
)

// maxPrematureExits is the number of times that an application may exit without giving a reason
// before its result is given up, unless it writes a checkpoint in between.
const maxPrematureExits = 100

// An ending contains all facts that decide the verdict on a process's end.
type ending struct {
	Quit        bool // we asked it to leave
	Abort       bool // we ended the result
	AbortStatus int
	AbortText   string
	AbortCode   reason.Code // "": a person or the project ended it

	Code       int  // exit status, if Signal is 0, on Windows its 32 bits as a signed number
	Signal     int  // that ended it, or 0
	WaitStatus int  // Code and Signal as the system encodes them
	FileTooBig bool // the system ended it for writing beyond the disk bound

	Finish    *appipc.Finish        // the finish file, if there is one
	Temporary *appipc.TemporaryExit // the temporary-exit file, if it is valid

	PrematureExits int // before this one, since the last checkpoint
}

// A judgement is the outcome of judging an ending.
type judgement struct {
	Verdict    Verdict
	ExitStatus int
	Message    string
	Delay      time.Duration
	Reason     reason.Reason // if postponed or failed
	Premature  bool          // counts towards maxPrematureExits
}

// restartSignals are signals that other programs or the system send, such as at a shutdown or when
// memory is short, and are not the application's fault: HUP, INT, QUIT, KILL, TERM and STOP. They
// are given by number, because judging is the same on all systems.
var restartSignals = map[int]bool{1: true, 2: true, 3: true, 9: true, 15: true, 19: true}

// judge returns the verdict on the end of a process.
//
// Source: BOINC client/app_control.cpp, ACTIVE_TASK::handle_exited_app. It differs in one case: an
// application that had finished when it was asked to quit is a success. Upstream computes it again
// from its last checkpoint.
func judge(e ending) judgement {
	switch {
	case e.Abort:
		return judgement{Verdict: Aborted, ExitStatus: e.AbortStatus, Message: e.AbortText, Reason: reason.Reason{Code: e.AbortCode}}
	case e.Temporary != nil && e.Signal == 0 && !e.Quit:
		return premature(e, judgement{Verdict: Postponed, Message: e.Temporary.Reason, Delay: e.Temporary.Delay, Reason: reason.Reason{Code: reason.ApplicationWaits, About: e.Temporary.Reason}})
	case e.Finish != nil && e.Signal == 0 && e.Code == 0:
		return judgement{Verdict: Success, Message: e.Finish.Message}
	case e.Quit:
		return judgement{Verdict: WillRestart, Message: "asked to quit"}
	case restartSignals[e.Signal]:
		return premature(e, judgement{Verdict: WillRestart, Message: fmt.Sprintf("process got signal %d", e.Signal)})
	case e.Signal != 0:
		return judgement{Verdict: ComputeError, ExitStatus: e.WaitStatus, Message: fmt.Sprintf("process got signal %d", e.Signal), Reason: ofSignal(e.Signal)}
	case outsideStatus[uint32(e.Code)] != "": //nolint:gosec // codes have 32 bits at most
		return premature(e, judgement{Verdict: WillRestart, Message: fmt.Sprintf("process exited with code 0x%x: %s", uint32(e.Code), outsideStatus[uint32(e.Code)])}) //nolint:gosec // as above
	case e.Code != 0:
		message, own := exitMessage(e.Code), ""
		if e.Finish != nil && e.Finish.Message != "" {
			own = e.Finish.Message
			message = own + "\n" + message
		}
		return judgement{Verdict: ComputeError, ExitStatus: e.Code, Message: message, Reason: ofExit(e.Code, own)}
	}
	return premature(e, judgement{Verdict: WillRestart, Message: "exited with zero status but without a finish file"})
}

// signals are the usual causes of the signals that crashes end with.
var signals = map[int]string{
	4: "illegal instruction", 5: "trace trap", 6: "it aborted itself", 7: "bus error", 8: "arithmetic error",
	11: "segmentation fault", 24: "CPU time limit", 25: "file too large", 31: "a system call that the sandbox forbids",
}

// ofSignal returns the reason for a failure by a signal.
func ofSignal(n int) reason.Reason {
	about := fmt.Sprintf("signal %d", n)
	if cause := signals[n]; cause != "" {
		about += ", " + cause
	}
	return reason.Reason{Code: reason.Crashed, About: about}
}

// maxOwn is the maximum length of an application's own message in a reason, in bytes.
const maxOwn = 200

// ofExit returns the reason for a failure with an exit code. own is the application's message, or "".
func ofExit(code int, own string) reason.Reason {
	if cause := crashCause(code); cause != "" {
		return reason.Reason{Code: reason.Crashed, About: fmt.Sprintf("0x%x, %s", uint32(code), cause)} //nolint:gosec // Windows' codes have 32 bits
	}
	about := fmt.Sprintf("exit status %d", code)
	own, _, _ = strings.Cut(strings.TrimSpace(own), "\n")
	if own = bxml.Printable(strings.TrimSuffix(own, "."), maxOwn); own != "" {
		about += ": " + own
	}
	return reason.Reason{Code: reason.ExitStatus, About: about}
}

func premature(e ending, j judgement) judgement {
	if e.PrematureExits+1 >= maxPrematureExits {
		return judgement{Verdict: ComputeError, ExitStatus: protocol.ExitTooManyExits, Message: "too many exit(0)s", Reason: reason.Reason{Code: reason.NeverFinished}}
	}
	j.Premature = true
	return j
}

// An OutputError is a defect of an output file that turns its result into a compute error. As with
// BOINC's client, the exit status remains the exit status of the process.
type OutputError struct {
	File string // physical name
	Code int    // BOINC's error number
	Text string
}

// Error returns the text that BOINC's client sends to the server in this case.
func (e *OutputError) Error() string {
	return fmt.Sprintf("upload failure: <file_xfer_error>\n  <file_name>%s</file_name>\n  <error_code>%d (%s)</error_code>\n</file_xfer_error>", e.File, e.Code, e.Text)
}

// judgeOutputs turns a success with a defective output into a compute error. Problems with the disk
// are temporary: the files are examined again later, see adopt.
func judgeOutputs(j judgement, outputs []Output) judgement {
	if j.Verdict != Success {
		return j
	}
	for _, o := range outputs {
		if o.Err == nil {
			continue
		}
		if full := sysfault.DiskFull(o.Err); full || sysfault.DiskFails(o.Err) { // the disk's fault, not the application's
			hindered := reason.Reason{Code: reason.DiskFails}
			if full {
				hindered.Code = reason.DiskFull
			}
			return judgement{Verdict: Postponed, Message: o.Err.Error(), Delay: untilRoom, Reason: hindered}
		}
		if j.Verdict == ComputeError {
			j.Message += "\n" + o.Err.Error()
			continue
		}
		j.Verdict, j.Message, j.Reason = ComputeError, o.Err.Error(), reason.Reason{Code: reason.OutputWrong}
		if e, ok := errors.AsType[*OutputError](o.Err); ok {
			j.Reason.About = o.Logical + ": " + e.Text
		}
	}
	return j
}
