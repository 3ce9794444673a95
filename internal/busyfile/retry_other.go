//go:build !windows

package busyfile

// Retry calls f once and returns its error.
func Retry(f func() error) error { return f() }
