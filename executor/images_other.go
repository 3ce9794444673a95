//go:build !linux

package executor

// noRoot returns nothing.
func noRoot() string { return "" }
