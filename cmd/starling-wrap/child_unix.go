//go:build unix

package main

import (
	"os"
	"syscall"
)

// signalGroup stops the program's process group, or resumes it.
func signalGroup(pid int, stop bool) {
	s := syscall.SIGCONT
	if stop {
		s = syscall.SIGSTOP
	}
	_ = syscall.Kill(-pid, s)
}

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// signaled distinguishes death by a signal that others send from death by a fault.
func signaled(st *os.ProcessState) (killed, crashed bool) {
	ws, ok := st.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return false, false
	}
	switch ws.Signal() {
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL, syscall.SIGTERM:
		return true, false
	}
	return false, true
}
