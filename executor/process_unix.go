//go:build unix

package executor

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/protocol/appipc"
)

// ownGroup makes the process lead a session and a process group, so that all its processes can be
// killed at once and it does not write to the terminal where the agent was started.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// longestDataDir sets no limit here: a program can be started in a folder with a path of any
// length.
const longestDataDir = math.MaxInt

// inode identifies a file or folder on this computer.
func inode(fi os.FileInfo) string {
	if s, ok := fi.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(s.Dev, " ", s.Ino)
	}
	return ""
}

// niceness maps the values of process_priority to niceness.
var niceness = map[int]int{0: lowest, 1: 10, 2: 0, 3: -10, 4: -15, 5: -20}

// niceOf returns the niceness that the volunteer wants for the application. 0 leaves it unchanged.
func niceOf(d appipc.InitData) int {
	if d.NoPriorityChange {
		return 0
	}
	choice, nice := d.ProcessPriority, lowest
	if d.GPUUsage > 0 || d.NCPUs > 0 && d.NCPUs < 1 {
		// It serves a device that would idle while the program waits for a CPU.
		choice, nice = d.ProcessPrioritySpecial, 10
	}
	if n, ok := niceness[choice]; ok {
		nice = n
	}
	return nice
}

// lowerPriority makes the application give way to everything else that the host does. It acts on
// the process group, because on Linux each thread has a separate priority and a program may already
// have started some. A program in the sandbox has set its own priority before.
func lowerPriority(pid int, d appipc.InitData) error {
	if d.NoPriorityChange {
		return nil
	}
	nice := niceOf(d)
	err := unix.Setpriority(unix.PRIO_PGRP, pid, nice)
	if nice == lowest {
		err = errors.Join(err, onlyIdle(pid))
	}
	return err
}

// The signals that stop a program, resume it and ask it to exit.
const (
	stop      = unix.SIGSTOP
	resume    = unix.SIGCONT
	terminate = unix.SIGTERM
)

// signalAll signals processes, of which some may have ended.
func signalAll(pids []int, s syscall.Signal) {
	for _, pid := range pids {
		if pid > 1 {
			_ = unix.Kill(pid, s)
		}
	}
}

// startError marks errors that are the program's fault with ErrUnusable. Others are temporary
// problems of this computer.
func startError(err error, project *os.Root, program string) error {
	switch {
	case errors.Is(err, unix.ENOEXEC):
		err = fmt.Errorf("%w: %w", err, ErrForeign)
	case errors.Is(err, unix.ENOENT): // the file itself exists
		err = fmt.Errorf("%w: %w", err, notFound(project, program))
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		err = fmt.Errorf("%w: %w", err, ErrForbidden)
	case errors.Is(err, unix.EISDIR), errors.Is(err, unix.E2BIG), errors.Is(err, unix.EINVAL):
	default:
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnusable, err)
}

// killGroup kills the remaining processes of the process group that pid led.
func killGroup(pid int) {
	if pid > 1 {
		_ = unix.Kill(-pid, unix.SIGKILL)
	}
}

// exitOf fills in how the process ended.
func (e *ending) exitOf(st *os.ProcessState) {
	ws, ok := st.Sys().(syscall.WaitStatus)
	if !ok {
		e.Code = st.ExitCode()
		return
	}
	e.WaitStatus = int(ws)
	if ws.Signaled() {
		e.Signal, e.FileTooBig = int(ws.Signal()), ws.Signal() == unix.SIGXFSZ
		return
	}
	e.Code = ws.ExitStatus()
}

// lockHolder returns the process that holds BOINC's lock on the file, or 0.
func lockHolder(f *os.File) int {
	l := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &l); err != nil || l.Type == unix.F_UNLCK {
		return 0
	}
	return int(l.Pid)
}
