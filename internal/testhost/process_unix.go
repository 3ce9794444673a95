//go:build unix

package testhost

import (
	"os"
	"os/exec"
	"syscall"
)

// detach starts the program in a new session, as the system starts a service.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// interrupt asks a process to end, and returns true. It sends SIGTERM because a program that a
// script started in the background inherits that SIGINT is ignored.
func interrupt(p *os.Process) bool {
	_ = p.Signal(syscall.SIGTERM)
	return true
}
