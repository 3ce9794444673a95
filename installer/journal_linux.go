package installer

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Journal reports whether the output of this process goes to systemd's journal, which stores it.
func Journal() bool {
	// Programs started by a service inherit the variable, but not always its stream.
	var st unix.Stat_t
	return unix.Fstat(int(os.Stderr.Fd()), &st) == nil && os.Getenv("JOURNAL_STREAM") == fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}
