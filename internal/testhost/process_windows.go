package testhost

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach makes a program start in a new process group.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// interrupt sends Ctrl-Break to the process group that p leads. Programs in Go take it for an
// interrupt. It needs a console that both processes share. Without one it kills the process and
// returns false.
func interrupt(p *os.Process) bool {
	if windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.Pid)) == nil { //nolint:gosec // process ids are that small
		return true
	}
	_ = p.Kill()
	return false
}
