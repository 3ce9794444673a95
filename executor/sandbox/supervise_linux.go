//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Some system calls can be judged only by what their arguments point to, where a
// filter cannot look: permissions of which file? priority of which program? They
// are held, and this process decides. Of files it acts itself, on what it has
// looked at: the program may change its memory and its links meanwhile.

// A notification is a system call that waits for our word.
//
// Source: struct seccomp_notif, linux/seccomp.h.
type notification struct {
	id     uint64
	pid    uint32 // of the thread
	_      uint32 // flags
	number int32
	_      uint32 // architecture: the filter lets through one
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

// supervise answers the calls of a program until all its processes have ended,
// and closes the listener.
func supervise(listener int, p Policy) {
	defer func() { _ = unix.Close(listener) }()
	for {
		fds := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}} //nolint:gosec // a file descriptor
		switch _, err := unix.Poll(fds, -1); {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || fds[0].Revents&unix.POLLIN == 0:
			return // nobody is left to call
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

// errMayGoOn lets the kernel carry the call out: its arguments are numbers, which
// nobody can change any more.
var errMayGoOn = errors.New("may continue")

// judge carries a call out, or says why not. valid reports whether the caller is
// still waiting, and so is the process whose memory was read.
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
			return nil // we may not look (Yama's ptrace_scope): as without us, done to no effect
		}
		if err != nil {
			return err
		}
		return c.carryOut(p)
	}
	return unix.EPERM
}

// ofItsOwn allows a call about a process or thread of the program's own.
func ofItsOwn(pid uint64, p Policy) error {
	if p.Mark != 0 && Marked(int(int32(pid))) == p.Mark { //nolint:gosec // as the kernel takes it
		return errMayGoOn
	}
	return unix.EPERM
}
