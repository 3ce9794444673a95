package sysfault

import (
	"errors"
	"syscall"
)

// Refused reports whether nobody takes connections where one was to be made.
func Refused(err error) bool { return is(err, refused) }

// Unreachable reports whether there is no way to the network, or to a host.
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
