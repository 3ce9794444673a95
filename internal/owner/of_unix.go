//go:build unix

package owner

import (
	"os"
	"syscall"
)

// Of returns the owner of a folder. other is true if this process is root's and the folder is
// another user's.
func Of(dir string) (uid, gid int, other bool) {
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	info, err := os.Stat(dir)
	if err != nil {
		return 0, 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}

// Another reports whether a folder is there and belongs to another user than the one who
// runs this.
func Another(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) != os.Geteuid()
}
