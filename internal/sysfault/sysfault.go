// Package sysfault recognizes faults of this computer and of the network in errors of the operating
// system. It compares the errors' numbers, which differ between systems, and never their texts.
package sysfault

import (
	"errors"
	"io/fs"
)

// DiskFull reports whether a write failed because the disk or a quota was full.
func DiskFull(err error) bool { return is(err, diskFull) }

// DiskFails reports whether a disk failed to read or write, or has become read-only after a
// failure.
func DiskFails(err error) bool { return is(err, diskFails) }

// NotAllowed reports whether this user lacks permission for a file or folder. Permissions on the
// network do not count.
func NotAllowed(err error) bool {
	_, file := errors.AsType[*fs.PathError](err)
	return file && errors.Is(err, fs.ErrPermission)
}

// NoProcess reports whether the system could not start one more process.
func NoProcess(err error) bool { return is(err, noProcess) }
