package executor

import (
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
