//go:build !linux

package executor

// unlinked returns 0: open files without a name cannot be found here.
func unlinked([]int) int64 { return 0 }
