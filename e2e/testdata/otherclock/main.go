//go:build linux && amd64

// Command otherclock runs a program whose wall clock differs from the computer's by the number of
// seconds in a file, which may change at any time:
//
//	otherclock FILE PROGRAM [ARGUMENT …]
//
// Its monotonic clock and other programs, including those that it starts, are not affected. A debugger
// would do it the same way: the program is traced, its kernel-provided clock (vDSO) is hidden at its
// start, and each of its remaining system calls for the time is answered here.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// become as the first argument makes this program install the filter and become another.
const become = "--become"

func main() {
	runtime.LockOSThread() // only the thread that started the program may trace it
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: otherclock FILE PROGRAM [ARGUMENT …]")
		os.Exit(2)
	}
	if os.Args[1] == become {
		err := filter()
		if err == nil {
			err = unix.Exec(os.Args[2], os.Args[2:], os.Environ())
		}
		fail(err)
	}
	status, err := run(os.Args[1], os.Args[2:])
	if err != nil {
		fail(err)
	}
	os.Exit(status)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "otherclock:", err)
	os.Exit(127)
}

// filter stops this thread, and all that come from it, before each system call for the wall clock.
func filter() error {
	const number, firstArgument = 0, 16 // Source: struct seccomp_data, linux/seccomp.h
	instructions := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_CLOCK_GETTIME, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: firstArgument},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.CLOCK_REALTIME, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_TRACE},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(instructions)), Filter: &instructions[0]} //nolint:gosec // six
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

// run runs a program to its end and returns its exit status.
func run(file string, args []string) (status int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self, append([]string{become, path}, args[1:]...)...) //nolint:noctx // it lasts as long as the program
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	pid := cmd.Process.Pid
	passOn(pid)
	if _, err := unix.Wait4(pid, nil, 0, nil); err != nil { // it has become this program
		return 0, err
	}
	if err := unix.PtraceSetOptions(pid, unix.PTRACE_O_EXITKILL|unix.PTRACE_O_TRACEEXEC|unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_TRACESECCOMP); err != nil {
		return 0, err
	}
	if err := unix.PtraceCont(pid, 0); err != nil {
		return 0, err
	}
	return trace(pid, file)
}

// passOn sends the signals that this process gets to the program.
func passOn(pid int) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGUSR1)
	go func() {
		for s := range signals {
			_ = unix.Kill(pid, s.(syscall.Signal))
		}
	}()
}

// trace answers the calls of a program's threads until it ends.
func trace(pid int, file string) (status int, err error) {
	known := map[int]bool{pid: true}
	hidden := false
	for {
		var ws unix.WaitStatus
		thread, err := unix.Wait4(-1, &ws, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case ws.Exited() && thread == pid:
			return ws.ExitStatus(), nil
		case ws.Signaled() && thread == pid:
			return 128 + int(ws.Signal()), nil
		case !ws.Stopped():
			delete(known, thread)
			continue
		}
		deliver := 0
		switch {
		case ws.TrapCause() == unix.PTRACE_EVENT_SECCOMP:
			err = answer(thread, file)
		case ws.TrapCause() == unix.PTRACE_EVENT_EXEC && !hidden:
			hidden, err = true, hide(thread)
		case ws.TrapCause() > 0:
		case !known[thread] && ws.StopSignal() == unix.SIGSTOP: // a new thread
		default:
			deliver = int(ws.StopSignal())
		}
		known[thread] = true
		if err != nil && !errors.Is(err, unix.ESRCH) { // a thread may be killed at any time
			return 0, err
		}
		if err := unix.PtraceCont(thread, deliver); err != nil && !errors.Is(err, unix.ESRCH) {
			return 0, err
		}
	}
}

// answer carries out a call for the wall clock.
func answer(thread int, file string) error {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &now); err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	off, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(thread, &regs); err != nil {
		return err
	}
	reply := binary.LittleEndian.AppendUint64(nil, uint64(now.Sec+off)) //nolint:gosec // as in memory
	reply = binary.LittleEndian.AppendUint64(reply, uint64(now.Nsec))   //nolint:gosec // as in memory
	if _, err := unix.PtracePokeData(thread, uintptr(regs.Rsi), reply); err != nil {
		return err
	}
	regs.Orig_rax, regs.Rax = ^uint64(0), 0 // no system call, success
	return unix.PtraceSetRegs(thread, &regs)
}

// hide removes the address of the vDSO from what a program that is about to run receives on its
// stack: its arguments, its variables, and then pairs of numbers, each list with a zero at its end.
func hide(thread int) error {
	const ignored, vdso, word = 1, 33, 8 // Source: AT_IGNORE and AT_SYSINFO_EHDR, linux/auxvec.h
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(thread, &regs); err != nil {
		return err
	}
	at := uintptr(regs.Rsp)
	next := func() (n uint64, err error) {
		b := make([]byte, word)
		_, err = unix.PtracePeekData(thread, at, b)
		at += word
		return binary.LittleEndian.Uint64(b), err
	}
	if _, err := next(); err != nil { // the number of arguments
		return err
	}
	for range 2 {
		for {
			n, err := next()
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
		}
	}
	for {
		switch key, err := next(); {
		case err != nil:
			return err
		case key == 0:
			return errors.New("this kernel has no vDSO to hide")
		case key == vdso:
			_, err := unix.PtracePokeData(thread, at-word, binary.LittleEndian.AppendUint64(nil, ignored))
			return err
		}
		at += word
	}
}
