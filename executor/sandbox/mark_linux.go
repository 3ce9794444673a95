package sandbox

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A mark is stored as the limit of file locks, which the kernel has ignored since Linux 2.4.
// Children inherit it, programs cannot raise it, and the filter prevents any change. All users can
// read it, whatever a process does to hide.

func setMark(m uint64) error {
	return unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: m, Max: m})
}

// Marked returns the mark that a process or thread was started with, or 0.
func Marked(pid int) uint64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	if err != nil {
		return 0
	}
	_, rest, ok := bytes.Cut(text, []byte("\nMax file locks "))
	if !ok {
		return 0
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) < 2 || !bytes.Equal(fields[0], fields[1]) {
		return 0
	}
	m, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil { // "unlimited", the value of nearly all processes
		return 0
	}
	return m
}
