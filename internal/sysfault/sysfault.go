// Package sysfault tells what an error of the operating system says of this computer and of
// the network: by its numbers, which differ between systems, and never by its text.
package sysfault

import (
	"errors"
	"io/fs"
)

// DiskFull reports whether there was no room for what was to be written, by the disk or by
// a quota.
func DiskFull(err error) bool { return is(err, diskFull) }

// DiskFails reports whether a disk could not do what it was asked to, or takes no more
// changes after that.
func DiskFails(err error) bool { return is(err, diskFails) }

// NotAllowed reports whether a file or folder may not be used by this user. What is not
// allowed on the network is none.
func NotAllowed(err error) bool {
	_, file := errors.AsType[*fs.PathError](err)
	return file && errors.Is(err, fs.ErrPermission)
}

// NoProcess reports whether the system had no room for one more process.
func NoProcess(err error) bool { return is(err, noProcess) }
