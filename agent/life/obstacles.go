package life

import (
	"errors"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/reason"
)

// ofStart returns the obstacle that the error of a start indicates. The start is tried again.
func ofStart(err error) reason.Reason {
	if o := core.Obstacle(err); o.Is() {
		return o
	}
	if room, ok := errors.AsType[*executor.RoomError](err); ok {
		return reason.Reason{Code: reason.ImageTooLarge, About: words.Bytes(room.Need).String()}
	}
	if errors.Is(err, executor.ErrNoImages) {
		return reason.Reason{Code: reason.NoImages}
	}
	if missing, ok := errors.AsType[*gpus.MissingError](err); ok {
		return reason.Reason{Code: reason.DriverIncomplete, About: missing.File}
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
