package executor

import (
	"os"
	"syscall"
	"time"
)

// entryChanged returns the time at which a file's content, permissions or name last changed.
func entryChanged(info os.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return time.Time{}
}
