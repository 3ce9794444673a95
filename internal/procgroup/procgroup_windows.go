package procgroup

import "os/exec"

// Own does nothing: process groups are of Unix.
func Own(*exec.Cmd) {}

// Kill kills a program.
func Kill(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill()
	}
}
