package desktop

import (
	"testing"
	"time"
)

// SetAway has people be away sooner in a test.
func SetAway(t *testing.T, d time.Duration) {
	before := away
	away = d
	t.Cleanup(func() { away = before })
}

// SystemCounter is for tests.
var SystemCounter = systemCounter
