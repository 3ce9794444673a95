package counts

import (
	"testing"
	"time"
)

// Counts that took long are kept for longer.
func TestCountsAreKept(t *testing.T) {
	c := Cache{taken: time.Now().Add(-time.Minute), took: time.Second}
	if _, ok := c.last(Fresh); ok {
		t.Error("a second's work is kept for a minute")
	}
	c.took = 10 * time.Second
	if _, ok := c.last(Fresh); !ok {
		t.Error("ten seconds' work is not kept for a minute")
	}
	c.took = 0
	if _, ok := c.last(10 * time.Minute); !ok {
		t.Error("who does not mind old counts gets none")
	}
}
