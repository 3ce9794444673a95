//go:build !windows

package busyfile

// Retry calls f and returns what it returns.
func Retry(f func() error) error { return f() }
