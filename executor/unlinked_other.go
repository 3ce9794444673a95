//go:build !linux

package executor

// unlinked returns the bytes of files that processes have open and that have no
// name any more; here they are not seen.
func unlinked([]int) int64 { return 0 }
