//go:build !windows

package busyfile

import (
	"errors"
	"syscall"
)

// inUse reports whether a program is open for writing.
func inUse(err error) bool { return errors.Is(err, syscall.ETXTBSY) }
