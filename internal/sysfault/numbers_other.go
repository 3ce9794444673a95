//go:build !windows

package sysfault

import "syscall"

var (
	diskFull    = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}
	diskFails   = []syscall.Errno{syscall.EIO, syscall.EROFS}
	refused     = []syscall.Errno{syscall.ECONNREFUSED}
	unreachable = []syscall.Errno{syscall.ENETDOWN, syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.EHOSTDOWN}
	lost        = []syscall.Errno{syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE}
	taken       = []syscall.Errno{syscall.EADDRINUSE}
	foreign     = []syscall.Errno{syscall.EADDRNOTAVAIL}
	noProcess   = []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM}
)
