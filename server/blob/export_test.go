package blob

import (
	"testing"
	"time"
)

// SetPatience changes the maximum time for an answer of a service, for a test.
func SetPatience(t *testing.T, d time.Duration) {
	before := patience
	patience = d
	t.Cleanup(func() { patience = before })
}
