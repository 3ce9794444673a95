//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// For some system calls, the decision depends on the data that their arguments point to, which a
// filter cannot read: which file's permissions, or which program's priority? They are held, and
// this process decides. Changes of files are made by this process itself, on the file that it has
// checked, because the program may change its memory and its links meanwhile.

// A notification is a system call that waits for a decision.
//
// Source: struct seccomp_notif, linux/seccomp.h.
type notification struct {
	id     uint64
	pid    uint32 // of the thread
	_      uint32 // flags
	number int32
	_      uint32 // architecture: the filter allows only one
	_      uint64 // instruction
	args   [6]uint64
}

// An answer ends a system call's wait.
//
// Source: struct seccomp_notif_resp, linux/seccomp.h.
type answer struct {
	id    uint64
	value int64
	errno int32 // negative
	flags uint32
}

// supervise answers the calls of a program until all its processes have ended, and then closes the
// listener.
func supervise(listener int, p Policy) {
	defer func() { _ = unix.Close(listener) }()
	for {
		fds := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}} //nolint:gosec // a file descriptor
		switch _, err := unix.Poll(fds, -1); {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || fds[0].Revents&unix.POLLIN == 0:
			return // no process is left
		}
		n := new(notification)
		if err := control(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(n)); err != nil { //nolint:gosec // as the call wants it
			continue // it was interrupted, or its caller has ended
		}
		a := answer{id: n.id}
		valid := func() bool {
			return control(listener, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&n.id)) == nil //nolint:gosec // as the call wants it
		}
		switch err := judge(n, p, valid); {
		case errors.Is(err, errMayGoOn):
			a.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
		case err != nil:
			errno := unix.EPERM
			_ = errors.As(err, &errno)
			a.errno = -int32(errno)
		}
		_ = control(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)) //nolint:gosec // as the call wants it; a caller that has ended needs none
	}
}

func control(fd int, request uint, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

// errMayGoOn lets the kernel carry the call out. Its arguments are numbers, which can no longer
// change.
var errMayGoOn = errors.New("may continue")

// judge carries out a call, or returns the reason for a refusal. valid reports whether the caller
// is still waiting, so that the memory that was read belongs to it.
func judge(n *notification, p Policy, valid func() bool) error {
	switch n.number {
	case unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR:
		return ofItsOwn(n.args[0], p)
	case unix.SYS_SETPRIORITY:
		if n.args[0] == unix.PRIO_PROCESS {
			return ofItsOwn(n.args[1], p)
		}
	case unix.SYS_IOPRIO_SET:
		const process = 1 // Source: IOPRIO_WHO_PROCESS, linux/ioprio.h
		if n.args[0] == process {
			return ofItsOwn(n.args[1], p)
		}
	default:
		c, err := fileCall(n, valid)
		if errors.Is(err, unix.EPERM) {
			return nil // this process may not read its memory (Yama's ptrace_scope): the call is ignored, as without a supervisor
		}
		if err != nil {
			return err
		}
		return c.carryOut(p)
	}
	return unix.EPERM
}

// ofItsOwn allows a call about one of the program's own processes or threads.
func ofItsOwn(pid uint64, p Policy) error {
	if p.Mark != 0 && Marked(int(int32(pid))) == p.Mark { //nolint:gosec // as the kernel takes it
		return errMayGoOn
	}
	return unix.EPERM
}
