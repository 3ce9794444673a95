//go:build !linux && !windows

package sandbox

import "os/exec"

// Start starts a command with cmd.Start. On this system the policy has no effect.
func Start(cmd *exec.Cmd, _ Policy) error { return cmd.Start() }

// Level returns a description, for people, of the restrictions that are enforced here, and whether
// there are any.
func Level() (words string, enforced bool) {
	return "none on this system: run the agent as its own user", false
}
