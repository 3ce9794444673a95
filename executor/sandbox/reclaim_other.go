//go:build !windows

package sandbox

// Reclaim does nothing: on this system, the folder of a file decides whether programs may write to
// it.
func Reclaim(string) error { return nil }
