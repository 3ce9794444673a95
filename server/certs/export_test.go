package certs

import (
	"testing"
	"time"
)

// SetAgain changes the time after which unusable files are read again, for a test.
func SetAgain(t *testing.T, d time.Duration) {
	before := again
	again = d
	t.Cleanup(func() { again = before })
}
