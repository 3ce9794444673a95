//go:build !linux

package sandbox

// Main must be called first in a program that wraps others. On this system it does nothing.
func Main() {}

// Marked returns 0: processes cannot be marked on this system.
func Marked(int) uint64 { return 0 }

// TaskUser returns 0, this process's user: on this system tasks cannot run as other users.
func TaskUser(int) (int, error) { return 0, nil }

// Try returns nil: on this system, nothing prevents programs from being started under a policy.
func Try(Policy) error { return nil }

// System returns the folders and files of the system that programs need. On this system they can
// read all of them without permission.
func System() Policy { return Policy{} }
