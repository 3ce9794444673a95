//go:build !linux

package sandbox

// Main must be called first in a program that wraps others; here it does nothing.
func Main() {}

// Marked returns the mark that a process was started with; here there are none.
func Marked(int) uint64 { return 0 }

// TaskUser returns the user as whom the task in a slot runs; here it is this
// process's, 0.
func TaskUser(int) (int, error) { return 0, nil }

// Try tells what keeps programs from being started under a policy; here nothing
// does.
func Try(Policy) error { return nil }

// System are the folders and files that programs need of the system; here they need no
// leave to read.
func System() Policy { return Policy{} }
