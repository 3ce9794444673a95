package server_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// uncache removes a file's content from the system's cache.
func uncache(tb testing.TB, file string) {
	tb.Helper()
	f, err := os.Open(file)
	must(tb, err)
	defer f.Close()
	unix.Sync() // only data on the disk can be removed
	must(tb, unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
}
