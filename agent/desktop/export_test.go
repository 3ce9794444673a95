package desktop

import (
	"fmt"
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

// Scripted returns a session whose sources fail with these errors, and the numbers of times that each
// has been asked.
func Scripted(errs ...error) (*Session, []int) {
	s, asked := &Session{Returned: make(chan struct{}, 1)}, make([]int, len(errs))
	for i, err := range errs {
		s.sources = append(s.sources, &source{
			name: fmt.Sprint("source ", i), address: func() string { return "here" },
			open: func(string, func()) (watch, error) { asked[i]++; return nil, err },
		})
	}
	return s, asked
}
