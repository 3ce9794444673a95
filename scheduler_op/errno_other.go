//go:build !windows

package schedulerop

import "syscall"

var (
	refused     = []syscall.Errno{syscall.ECONNREFUSED}
	unreachable = []syscall.Errno{syscall.ENETDOWN, syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.EHOSTDOWN}
	lost        = []syscall.Errno{syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE}
)
