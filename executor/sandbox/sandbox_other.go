//go:build !linux

package sandbox

// Main must be called first in a program that wraps others; here it does nothing.
func Main() {}

// Level tells what is enforced here, in words for people, and whether that is
// anything.
func Level() (words string, enforced bool) {
	return "none on this system: run the agent as a user of its own", false
}
