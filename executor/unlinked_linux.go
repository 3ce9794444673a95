package executor

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// unlinked returns the total size, in bytes, of files that processes have open and whose names have
// been removed, or which never had a name (memfd_create).
func unlinked(pids []int) (sum int64) {
	type file struct{ dev, ino uint64 }
	seen := make(map[file]bool)
	for _, pid := range pids {
		dir := "/proc/" + strconv.Itoa(pid) + "/fd"
		names, err := os.ReadDir(dir)
		if err != nil {
			continue // the process has ended
		}
		for _, n := range names {
			var st unix.Stat_t
			if unix.Stat(dir+"/"+n.Name(), &st) != nil || st.Nlink > 0 || st.Mode&unix.S_IFMT != unix.S_IFREG {
				continue
			}
			if f := (file{uint64(st.Dev), st.Ino}); !seen[f] { //nolint:unconvert // not on all systems
				seen[f] = true
				sum += st.Blocks * 512
			}
		}
	}
	return sum
}
