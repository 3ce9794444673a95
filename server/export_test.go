package server

import (
	"testing"
	"time"
)

// SetWindow changes for a test within which time a transfer must have moved.
func SetWindow(t *testing.T, d time.Duration) {
	before := window
	window = d
	t.Cleanup(func() { window = before })
}
