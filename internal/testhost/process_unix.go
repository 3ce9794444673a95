//go:build unix

package testhost

import (
	"os"
	"os/exec"
	"syscall"
)

func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interrupt asks a process to end, and returns true. It sends SIGTERM because a program that a
// script started in the background inherits that SIGINT is ignored.
func interrupt(p *os.Process) bool {
	_ = p.Signal(syscall.SIGTERM)
	return true
}
