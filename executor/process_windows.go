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

// ownGroup keeps a Ctrl-C meant for us from the application, and gives it the
// lowest priority.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.IDLE_PRIORITY_CLASS,
	}
}

// inode is of no use here: there are no containers whose processes we see.
func inode(os.FileInfo) string { return "" }

// There are no such signals here, and no shared memory that would lead to them.
const stop, resume, terminate = syscall.Signal(0), syscall.Signal(0), syscall.SIGTERM

func signalAll([]int, syscall.Signal) {}

// startError tells faults of a program from those of this computer, which pass.
func startError(err error) error {
	for _, fault := range []error{windows.ERROR_BAD_EXE_FORMAT, windows.ERROR_EXE_MACHINE_TYPE_MISMATCH, windows.ERROR_FILE_NOT_FOUND} {
		if errors.Is(err, fault) {
			return fmt.Errorf("%w: %w", ErrUnusable, err)
		}
	}
	return err
}

func lowerPriority(int, appipc.InitData) error { return nil }

// killGroup kills the process alone; Windows has no groups to be killed.
func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
		_ = p.Release()
	}
}

func (e *ending) exitOf(st *os.ProcessState) { e.Code = st.ExitCode() }

func lockHolder(*os.File) int { return 0 }
