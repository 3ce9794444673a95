package testhost

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach gives a program a process group of its own.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// interrupt sends the group that the process leads what Ctrl-Break sends, which Go's
// programs take for an interrupt. That takes a console that both share; without one it
// kills the process, and returns false.
func interrupt(p *os.Process) bool {
	if windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.Pid)) == nil { //nolint:gosec // process ids are that small
		return true
	}
	_ = p.Kill()
	return false
}
