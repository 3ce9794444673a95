//go:build !linux

package installer

// Journal reports whether the output of this process goes to a journal of the system.
func Journal() bool { return false }
