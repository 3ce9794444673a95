package files

import (
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
)

// ofTransfer returns the obstacle that the error of a transfer indicates.
func ofTransfer(err error, now time.Time) reason.Reason {
	if o := core.Obstacle(err); o.Is() {
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
	if failed.Host != "" {
		err = schedulerop.From(failed.Host, err)
	}
	o := schedulerop.Diagnose(err, failed.URL, now).OfFile()
	if o.Code == reason.NotOnServer && failed.Op == "upload" {
		o.Code = reason.NoUploads
	}
	return o
}
