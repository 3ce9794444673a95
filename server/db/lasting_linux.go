package db

import (
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// confirmedWithin returns a function for net.Dialer.Control that limits the time without a confirmation of sent data.
func confirmedWithin(limit time.Duration) func(network, address string, c syscall.RawConn) error {
	return func(network, _ string, c syscall.RawConn) error {
		if !strings.HasPrefix(network, "tcp") {
			return nil
		}
		var err error
		broken := c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(limit.Milliseconds()))
		})
		if broken != nil {
			return broken
		}
		return err
	}
}
