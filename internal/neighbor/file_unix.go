//go:build unix

package neighbor

import (
	"os"
	"syscall"
)

// noFollow keeps a link that somebody left from being followed, and a pipe from
// being waited for.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

func isOwn(st os.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() && s.Nlink == 1
}
