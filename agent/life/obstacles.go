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
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
)

// inThisComputer returns the obstacle in this computer that caused an error, or none if the cause
// is elsewhere.
func inThisComputer(err error) reason.Reason {
	switch {
	case sysfault.DiskFull(err):
		return reason.Reason{Code: reason.DiskFull}
	case sysfault.DiskFails(err):
		return reason.Reason{Code: reason.DiskFails}
	case sysfault.NotAllowed(err):
		return reason.Reason{Code: reason.NotAllowed}
	}
	return reason.Reason{}
}

// ofTransfer returns the obstacle that the error of a transfer indicates.
func ofTransfer(err error, now time.Time) reason.Reason {
	if o := inThisComputer(err); o.Is() {
		return o
	}
	failed, _ := errors.AsType[*filexfer.Error](err)
	if failed == nil { // it did not get so far
		return reason.Reason{Code: reason.TransferFails}
	}
	switch failed.Num {
	case protocol.ErrNumMD5, protocol.ErrNumWrongSize:
		return reason.Reason{Code: reason.Differs}
	case protocol.ErrNumSignature, protocol.ErrNumNoSignature:
		return reason.Reason{Code: reason.NotSigned}
	}
	if refused, ok := errors.AsType[*filexfer.RefusedError](err); ok {
		return reason.Reason{Code: reason.UploadRefused, About: refused.Message}
	}
	if answer, ok := errors.AsType[*filexfer.StatusError](err); ok {
		err = &schedulerop.StatusError{Status: answer.Code}
	}
	switch {
	case errors.Is(err, filexfer.ErrNoURL):
		return reason.Reason{Code: reason.NoAddress}
	case errors.Is(err, filexfer.ErrStalled):
		return reason.Reason{Code: reason.Stalled}
	case errors.Is(err, fs.ErrNotExist):
		return reason.Reason{Code: reason.FileGone}
	case errors.Is(err, filexfer.ErrCut):
		err = &filexfer.Error{URL: failed.URL, Err: io.ErrUnexpectedEOF}
	}
	o := schedulerop.Diagnose(err, failed.URL, now).OfFile()
	if o.Code == reason.NotOnServer && failed.Op == "upload" {
		o.Code = reason.NoUploads
	}
	return o
}

// ofStart returns the obstacle that the error of a start indicates. The start is tried again.
func ofStart(err error) reason.Reason {
	if o := inThisComputer(err); o.Is() {
		return o
	}
	if room, ok := errors.AsType[*executor.RoomError](err); ok {
		return reason.Reason{Code: reason.ImageTooLarge, About: words.Bytes(room.Need)}
	}
	if errors.Is(err, executor.ErrNoImages) {
		return reason.Reason{Code: reason.NoImages}
	}
	if sysfault.NoProcess(err) {
		return reason.Reason{Code: reason.NoProcess}
	}
	return reason.Reason{Code: reason.StartFails}
}

// causeOf returns the cause of failure of a result whose program cannot be started, now or later.
func causeOf(err error) reason.Reason {
	missing, noInterpreter := errors.AsType[*executor.MissingError](err)
	odd, described := errors.AsType[describedError](err)
	code, about := reason.NotStarted, ""
	switch {
	case described:
		about = string(odd)
	case noInterpreter:
		code, about = reason.NoInterpreter, missing.Interpreter
	case errors.Is(err, executor.ErrForeign):
		code = reason.WrongComputer
	case errors.Is(err, executor.ErrForbidden):
		code = reason.NotExecutable
	}
	if own, ok := errors.AsType[*ownFileError](err); ok {
		code, about = reason.OwnFileMissing, own.name
	}
	return reason.Reason{Code: code, About: about}
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
