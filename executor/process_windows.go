package executor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/starling-grid/starling/protocol/appipc"
)

// ownGroup protects the application from a Ctrl-C that is meant for the agent, and does not show a
// window for it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

// longestDataDir is the maximum number of characters in the data directory's path. Programs are
// started in a slot, whose path is some ten characters longer, and the system's limit is 258.
const longestDataDir = 240

// inode returns "": it is not needed here, since processes in containers cannot be seen.
func inode(os.FileInfo) string { return "" }

// These signals do not exist on Windows. The job object suspends and resumes its processes.
const stop, resume, terminate = syscall.Signal(1), syscall.Signal(2), syscall.SIGTERM

// signalAll ends the processes if s is terminate, since they cannot be asked to exit.
func signalAll(pids []int, s syscall.Signal) {
	if s != terminate {
		return
	}
	for _, pid := range pids {
		killGroup(pid)
	}
}

// startError marks errors that are the program's fault with ErrUnusable. Others are temporary
// problems of this computer.
func startError(err error, project *os.Root, program string) error {
	switch {
	case errors.Is(err, windows.ERROR_BAD_EXE_FORMAT), errors.Is(err, windows.ERROR_EXE_MACHINE_TYPE_MISMATCH):
		return fmt.Errorf("%w: %w: %w", ErrUnusable, err, ErrForeign)
	case errors.Is(err, windows.ERROR_FILE_NOT_FOUND):
		return fmt.Errorf("%w: %w: %w", ErrUnusable, err, notFound(project, program))
	}
	return err
}

// classes maps the values of process_priority to priority classes. 5 does not give the real-time
// class, with which a task could block the system itself.
//
// Source: BOINC client/app_start.cpp, get_priority.
var classes = map[int]uint32{
	0: windows.IDLE_PRIORITY_CLASS, 1: windows.BELOW_NORMAL_PRIORITY_CLASS, 2: windows.NORMAL_PRIORITY_CLASS,
	3: windows.ABOVE_NORMAL_PRIORITY_CLASS, 4: windows.HIGH_PRIORITY_CLASS, 5: windows.HIGH_PRIORITY_CLASS,
}

// niceOf returns 0: Windows has priority classes instead.
func niceOf(appipc.InitData) int { return 0 }

// lowerPriority makes the application give way to everything else that the host does. Processes
// that it starts inherit its priority if it is low.
func lowerPriority(pid int, d appipc.InitData) error {
	if d.NoPriorityChange {
		return nil
	}
	choice, class := d.ProcessPriority, uint32(windows.IDLE_PRIORITY_CLASS)
	if d.GPUUsage > 0 || d.NCPUs > 0 && d.NCPUs < 1 {
		// It serves a device that would idle while the program waits for a CPU.
		choice, class = d.ProcessPrioritySpecial, windows.BELOW_NORMAL_PRIORITY_CLASS
	}
	if c, ok := classes[choice]; ok {
		class = c
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_INFORMATION, false, uint32(pid)) //nolint:gosec // process ids are that small
	if err != nil {
		return os.NewSyscallError("OpenProcess", err)
	}
	defer func() { _ = windows.CloseHandle(h) }()
	return windows.SetPriorityClass(h, class)
}

// killGroup kills only this process. The job ends the others.
func killGroup(pid int) {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(pid)) //nolint:gosec // process ids are that small
	if err != nil {
		return
	}
	_ = windows.TerminateProcess(h, killed)
	_ = windows.CloseHandle(h)
}

// exitOf fills in how the process ended. Exit codes have 32 bits on Windows, and BOINC's servers
// expect the codes of crashes as negative numbers.
func (e *ending) exitOf(st *os.ProcessState) { e.Code = int(int32(st.ExitCode())) } //nolint:gosec // see above

func lockHolder(*os.File) int { return 0 }
