package main

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// ownGroup makes the program lead a process group, and lets the kernel end it if the wrapper is
// killed and cannot.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// groupCPUTime adds up the processes of a group and the children that they
// have waited for. Linux counts in hundredths of a second.
func groupCPUTime(group int) time.Duration {
	dir, err := os.Open("/proc")
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var ticks int64
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		b, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		// The command's name, in parentheses, may hold anything.
		fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		if len(fields) < 15 || string(fields[2]) != strconv.Itoa(group) {
			continue
		}
		for _, f := range fields[11:15] { // utime, stime, cutime, cstime
			n, _ := strconv.ParseInt(string(f), 10, 64)
			ticks += n
		}
	}
	return time.Duration(ticks) * (time.Second / 100)
}
