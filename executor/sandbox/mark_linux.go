package sandbox

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A mark is the limit of file locks, which the kernel has not looked at since
// Linux 2.4. Children inherit it, no program can raise it, and the filter lets
// none change it; and everybody can read it, whatever a process does to hide.

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
	if err != nil { // "unlimited", as nearly everywhere
		return 0
	}
	return m
}
