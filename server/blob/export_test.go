package blob

import (
	"testing"
	"time"
)

// SetPatience changes for a test how long a service may take to answer.
func SetPatience(t *testing.T, d time.Duration) {
	before := patience
	patience = d
	t.Cleanup(func() { patience = before })
}
