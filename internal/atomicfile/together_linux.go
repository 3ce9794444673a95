package atomicfile

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// few is up to how many files syncfs is not worth it: it also writes what others
	// have left to be written to the same file system.
	few = 8
	// dear is from when on syncfs costs more, for each of the files, than to make them
	// durable one by one: others write much. It is not used then for a while.
	dear  = 2 * time.Millisecond
	while = time.Minute
)

// crowded is until when syncfs is not used, Unix nanoseconds.
var crowded atomic.Int64

// together makes all of the file system durable, if that pays for n files, and reports
// whether it did. If it could not, which of the files are not durable has to be asked
// one by one: what failed may be another program's.
func (g *Group) together(n int) bool {
	begin := time.Now()
	if n <= few || begin.UnixNano() < crowded.Load() {
		return false
	}
	err := unix.Syncfs(int(g.root.Fd()))
	if time.Since(begin) > time.Duration(n)*dear {
		crowded.Store(time.Now().Add(while).UnixNano())
	}
	return err == nil
}
