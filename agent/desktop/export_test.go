package desktop

import (
	"testing"
	"time"
)

// SetAway shortens the time after which people count as away, in a test.
func SetAway(t *testing.T, d time.Duration) {
	before := away
	away = d
	t.Cleanup(func() { away = before })
}

// SystemCounter is for tests.
var SystemCounter = systemCounter
