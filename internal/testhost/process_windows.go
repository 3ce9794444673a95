package testhost

import (
	"os"
	"os/exec"
)

func detach(*exec.Cmd) {}

// interrupt ends the process: Windows has no signal for a single one without a
// console of its own.
func interrupt(p *os.Process) { _ = p.Kill() }
