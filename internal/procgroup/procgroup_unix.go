//go:build unix

// Package procgroup ends a program together with the programs that it has started.
package procgroup

import (
	"os/exec"
	"syscall"
)

// Own makes a program lead a process group, which is killed as a whole when the context of the
// command ends. On Linux, the kernel ends the program if its parent was killed.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// Kill kills a program and those that it has left behind.
func Kill(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
