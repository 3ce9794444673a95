package core

import (
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/reason"
)

// Obstacle returns the obstacle in this computer that caused an error, or none if the cause
// is elsewhere.
func Obstacle(err error) reason.Reason {
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
