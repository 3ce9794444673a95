package neighbor

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// firstPerson is the first user id of people. Lower ids belong to the system.
//
// Source: login.defs(5), UID_MIN.
const firstPerson = 1000

// heldByStranger reports whether a file is locked by people's processes only, where this process
// is the system's: anybody may lock a file that they can read, and the system's agent does not
// wait for that. A holder that cannot be seen is a stranger, too.
func heldByStranger(path string) bool {
	return os.Geteuid() < firstPerson && strangers(path, os.Geteuid())
}

func strangers(path string, self int) bool {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return false
	}
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		return false
	}
	inode := fmt.Sprintf("%02x:%02x:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)), st.Ino) //nolint:unconvert // not on all systems
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[1] != "FLOCK" || fields[5] != inode {
			continue
		}
		pid, err := strconv.Atoi(fields[4])
		if err != nil || pid <= 0 {
			continue
		}
		info, err := os.Stat("/proc/" + fields[4])
		if err != nil {
			continue
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok && (s.Uid < firstPerson || int(s.Uid) == self) {
			return false
		}
	}
	return true
}
