//go:build !linux

package db

import (
	"syscall"
	"time"
)

// confirmedWithin returns nil: only Linux has such a limit for each connection.
func confirmedWithin(time.Duration) func(network, address string, c syscall.RawConn) error {
	return nil
}
