//go:build !linux

package sandbox

import (
	"os/exec"
	"runtime"
)

// Main must be called first in a program that wraps others; here it does nothing.
func Main() {}

// Start starts a command as cmd.Start does; here the policy has no effect.
func Start(cmd *exec.Cmd, _ Policy) error { return cmd.Start() }

// Marked returns the mark that a process was started with; here there are none.
func Marked(int) uint64 { return 0 }

// TaskUser returns the user as whom the task in a slot runs; here it is this
// process's, 0.
func TaskUser(int) (int, error) { return 0, nil }

// Try tells what keeps programs from being started under a policy; here nothing
// does.
func Try(Policy) error { return nil }

// Level tells what is enforced here, in words for people, and whether that is
// anything.
func Level() (words string, enforced bool) {
	if runtime.GOOS == "windows" {
		return "job objects, which limit memory and processes; files and the network are not protected: run the agent as its own user", false
	}
	return "none on this system: run the agent as its own user", false
}
