//go:build !windows

package sysfault

import "syscall"

var (
	diskFull  = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}
	diskFails = []syscall.Errno{syscall.EIO, syscall.EROFS}
	noProcess = []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM}
)
