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

// ownGroup keeps a Ctrl-C meant for us from the application, and shows no window for it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

// longestDataDir is how many characters the data directory's path may have: the folder in
// which a program is started, a slot, may have some ten more, and the system's bound is 258.
const longestDataDir = 240

// inode is of no use here: there are no containers whose processes we see.
func inode(os.FileInfo) string { return "" }

// There are no such signals here; a job holds its processes and lets them go on.
const stop, resume, terminate = syscall.Signal(1), syscall.Signal(2), syscall.SIGTERM

// signalAll ends processes that are to be terminated: none can be asked to end itself.
func signalAll(pids []int, s syscall.Signal) {
	if s != terminate {
		return
	}
	for _, pid := range pids {
		killGroup(pid)
	}
}

// startError tells faults of a program from those of this computer, which pass.
func startError(err error, project *os.Root, program string) error {
	switch {
	case errors.Is(err, windows.ERROR_BAD_EXE_FORMAT), errors.Is(err, windows.ERROR_EXE_MACHINE_TYPE_MISMATCH):
		return fmt.Errorf("%w: %w: %w", ErrUnusable, err, ErrForeign)
	case errors.Is(err, windows.ERROR_FILE_NOT_FOUND):
		return fmt.Errorf("%w: %w: %w", ErrUnusable, err, &MissingError{interpreter(project, program)})
	}
	return err
}

// classes of the values of process_priority. Of real time, 5, a task could hold up the system
// itself.
//
// Source: BOINC client/app_start.cpp, get_priority.
var classes = map[int]uint32{
	0: windows.IDLE_PRIORITY_CLASS, 1: windows.BELOW_NORMAL_PRIORITY_CLASS, 2: windows.NORMAL_PRIORITY_CLASS,
	3: windows.ABOVE_NORMAL_PRIORITY_CLASS, 4: windows.HIGH_PRIORITY_CLASS, 5: windows.HIGH_PRIORITY_CLASS,
}

// niceOf returns 0: there are classes of priority instead.
func niceOf(appipc.InitData) int { return 0 }

// lowerPriority makes the application give way to whatever else the host does. The
// processes that it starts take after it if it is low.
func lowerPriority(pid int, d appipc.InitData) error {
	if d.NoPriorityChange {
		return nil
	}
	choice, class := d.ProcessPriority, uint32(windows.IDLE_PRIORITY_CLASS)
	if d.GPUUsage > 0 || d.NCPUs > 0 && d.NCPUs < 1 {
		// It feeds a device that would idle while it waits for a CPU.
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

// killGroup kills the process alone; the others are its job's.
func killGroup(pid int) {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(pid)) //nolint:gosec // process ids are that small
	if err != nil {
		return
	}
	_ = windows.TerminateProcess(h, killed)
	_ = windows.CloseHandle(h)
}

// exitOf fills in how the process ended. The codes of Windows are of 32 bits; BOINC's
// servers know those of crashes as negative numbers.
func (e *ending) exitOf(st *os.ProcessState) { e.Code = int(int32(st.ExitCode())) } //nolint:gosec // see above

func lockHolder(*os.File) int { return 0 }
