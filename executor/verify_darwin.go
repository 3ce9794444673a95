package executor

import (
	"os"
	"syscall"
)

// entryChanged returns the time at which a file's content, permissions or name last changed, in nanoseconds
// since 1970, or 0 if it is not known.
func entryChanged(_ string, info os.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctimespec.Nano()
	}
	return 0
}
