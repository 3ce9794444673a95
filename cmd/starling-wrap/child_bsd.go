//go:build unix && !linux

package main

import (
	"os/exec"
	"syscall"
	"time"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// groupCPUTime is unknown here before the program's end.
func groupCPUTime(int) time.Duration { return 0 }
