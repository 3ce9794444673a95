package sysfault

import (
	"errors"
	"syscall"
)

// Refused reports whether the other side refused the connection because nothing was listening.
func Refused(err error) bool { return is(err, refused) }

// Unreachable reports whether the network or a host could not be reached.
func Unreachable(err error) bool { return is(err, unreachable) }

// Lost reports whether a connection ended that the other side did not close.
func Lost(err error) bool { return is(err, lost) }

// Taken reports whether an address is another program's.
func Taken(err error) bool { return is(err, taken) }

func is(err error, numbers []syscall.Errno) bool {
	for _, n := range numbers {
		if errors.Is(err, n) {
			return true
		}
	}
	return false
}
