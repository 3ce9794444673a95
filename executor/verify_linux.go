package executor

import (
	"os"
	"syscall"
	"time"
)

// entryChanged returns when a file's content, permissions or name changed last.
func entryChanged(info os.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return time.Time{}
}
