//go:build unix

package testhost

import (
	"os"
	"os/exec"
	"syscall"
)

func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interrupt asks a process to end, and returns true.
func interrupt(p *os.Process) bool {
	_ = p.Signal(os.Interrupt)
	return true
}
