package life

import (
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/obstacle"
	"github.com/starling-grid/starling/protocol"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
	"github.com/starling-grid/starling/state"
	"github.com/starling-grid/starling/workfetch"
)

// inThisComputer returns the obstacle in this computer that caused an error, or none if the cause
// is elsewhere.
func inThisComputer(err error) obstacle.Obstacle {
	switch {
	case sysfault.DiskFull(err):
		return obstacle.Obstacle{Code: obstacle.DiskFull}
	case sysfault.DiskFails(err):
		return obstacle.Obstacle{Code: obstacle.DiskFails}
	case sysfault.NotAllowed(err):
		return obstacle.Obstacle{Code: obstacle.NotAllowed}
	}
	return obstacle.Obstacle{}
}

// ofTransfer returns the obstacle that the error of a transfer indicates.
func ofTransfer(err error, now time.Time) obstacle.Obstacle {
	if o := inThisComputer(err); o.Is() {
		return o
	}
	failed, _ := errors.AsType[*filexfer.Error](err)
	if failed == nil { // it did not get so far
		return obstacle.Obstacle{Code: obstacle.TransferFails}
	}
	switch failed.Num {
	case protocol.ErrNumMD5, protocol.ErrNumWrongSize:
		return obstacle.Obstacle{Code: obstacle.Differs}
	case protocol.ErrNumSignature, protocol.ErrNumNoSignature:
		return obstacle.Obstacle{Code: obstacle.NotSigned}
	}
	if refused, ok := errors.AsType[*filexfer.RefusedError](err); ok {
		return obstacle.Obstacle{Code: obstacle.Refused, About: refused.Message}
	}
	if answer, ok := errors.AsType[*filexfer.StatusError](err); ok {
		err = &schedulerop.StatusError{Status: answer.Code}
	}
	switch {
	case errors.Is(err, filexfer.ErrNoURL):
		return obstacle.Obstacle{Code: obstacle.NoAddress}
	case errors.Is(err, filexfer.ErrStalled):
		return obstacle.Obstacle{Code: obstacle.Stalled}
	case errors.Is(err, fs.ErrNotExist):
		return obstacle.Obstacle{Code: obstacle.FileGone}
	case errors.Is(err, filexfer.ErrCut):
		err = &filexfer.Error{URL: failed.URL, Err: io.ErrUnexpectedEOF}
	}
	o := obstacle.OfTrouble(schedulerop.Diagnose(err, failed.URL, now))
	if o.Code == obstacle.NotOnServer && failed.Op == "upload" {
		o.Code = obstacle.NoUploads
	}
	return o
}

// ofStart returns the obstacle that the error of a start indicates. The start is tried again.
func ofStart(err error) obstacle.Obstacle {
	if o := inThisComputer(err); o.Is() {
		return o
	}
	if room, ok := errors.AsType[*executor.RoomError](err); ok {
		return obstacle.Obstacle{Code: obstacle.ImageTooLarge, About: words.Bytes(room.Need)}
	}
	if errors.Is(err, executor.ErrNoImages) {
		return obstacle.Obstacle{Code: obstacle.NoImages}
	}
	if sysfault.NoProcess(err) {
		return obstacle.Obstacle{Code: obstacle.NoProcess}
	}
	return obstacle.Obstacle{Code: obstacle.StartFails}
}

// causeOf returns the cause of failure of a result whose program cannot be started, now or later.
func causeOf(err error) state.Cause {
	missing, noInterpreter := errors.AsType[*executor.MissingError](err)
	odd, described := errors.AsType[describedError](err)
	code, about := workfetch.NotStarted, ""
	switch {
	case described:
		about = string(odd)
	case noInterpreter:
		code, about = workfetch.NoInterpreter, missing.Interpreter
	case errors.Is(err, executor.ErrForeign):
		code = workfetch.WrongComputer
	case errors.Is(err, executor.ErrForbidden):
		code = workfetch.NotExecutable
	}
	if own, ok := errors.AsType[*ownFileError](err); ok {
		code, about = workfetch.OwnFileMissing, own.name
	}
	return state.Cause{Code: string(code), About: about}
}

// A describedError is a fault in a project's description of a result, for people.
type describedError string

func (e describedError) Error() string { return string(e) }

// An ownFileError is a file of the volunteer's own that is not there.
type ownFileError struct {
	name string
	err  error
}

func (e *ownFileError) Error() string {
	return "your file " + e.name + " (app_info.xml): " + e.err.Error()
}

func (e *ownFileError) Unwrap() error { return e.err }

// record returns an obstacle as it is stored.
func record(o obstacle.Obstacle) state.Cause {
	return state.Cause{Code: string(o.Code), About: o.About}
}
