//go:build !wasip1

package boincapi

import (
	"errors"
	"os"
	"runtime"
	"time"

	"github.com/starling-grid/starling/protocol/appipc"
)

// Exit statuses that BOINC's clients and servers interpret.
const (
	exitAborted     = 194
	exitInitFailure = 206
)

// Exit ends the process according to err. It does not return.
//
//   - nil: the work is done, as Finish(0, "").
//   - ErrQuit, ErrClientLost: status 0 without a finish file, so that the
//     client starts the application again later.
//   - ErrAborted: status 194.
//   - any other error: it is written to stderr and the task fails with status
//     1, or with the status that the error's ExitStatus() int returns, if it
//     has that method.
//
// Errors may be wrapped.
func (a *App) Exit(err error) {
	switch {
	case err == nil:
		a.Finish(0, "")
	case errors.Is(err, ErrAborted):
		a.end(exitAborted, "", nil)
	case errors.Is(err, ErrQuit), errors.Is(err, ErrClientLost):
		a.end(0, "", nil)
	default:
		logf("%v", err)
		status := 1
		if s, ok := errors.AsType[interface {
			error
			ExitStatus() int
		}](err); ok {
			status = s.ExitStatus()
		}
		a.Finish(status, "")
	}
}

// Finish reports that the work has ended and ends the process. Status 0 is success, 1 to 255 an
// error. The message is shown to the user, unless it is empty. Finish does not return. All outputs
// must be written and closed before.
func (a *App) Finish(status int, message string) {
	logf("called finish(%d)", status)
	a.end(status, appipc.FinishFile, appipc.Finish{Status: status, Message: message, Notice: message != ""}.Encode())
}

// TemporaryExit ends the process and asks the client to start it again after the delay, at most a
// day. The reason is shown to the user and must not be empty. TemporaryExit does not return.
func (a *App) TemporaryExit(delay time.Duration, reason string) {
	logf("temporary exit for %v: %s", delay, reason)
	t := appipc.TemporaryExit{Delay: delay, Reason: reason}
	a.end(0, appipc.TemporaryExitFile, t.Encode())
}

// end reports once more, so that the client gets the final CPU time, writes the file that reports
// how the run ended, and exits. It does not wait until the client has read the report. The first
// caller wins.
func (a *App) end(status int, file string, content []byte) {
	a.exit.Lock() // and never unlocks
	a.reportStatus()
	if file != "" {
		if err := os.WriteFile(file, content, 0o644); err != nil { //nolint:gosec // the client may be another user
			logf("%v", err)
			status = max(status, 1)
		}
	}
	if a.lock != nil {
		if runtime.GOOS == "windows" { // an open file cannot be removed there
			_ = a.lock.Close()
		}
		_ = os.Remove(appipc.LockFile)
	}
	os.Exit(status)
}
