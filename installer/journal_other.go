//go:build !linux

package installer

// Journal reports whether what this process prints goes to a journal of the system.
func Journal() bool { return false }
