//go:build unix

package executor

import "golang.org/x/sys/unix"

// leastFree is the free space, in bytes, below which a disk counts as full.
const leastFree = 1 << 20

// diskFull reports whether hardly any room is left for slots. A failure at such a time may not
// occur later.
func (e *Executor) diskFull() bool {
	var st unix.Statfs_t
	if err := unix.Statfs(e.dir, &st); err != nil {
		return false
	}
	return uint64(st.Bavail)*uint64(st.Bsize) < leastFree //nolint:gosec,unconvert // sizes are positive, and of other types elsewhere
}
