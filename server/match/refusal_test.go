package match_test

import (
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// If several tasks were refused for one reason, the host gets the same refusal in whatever order
// they were examined.
func TestRefusalsInAnyOrder(t *testing.T) {
	bounds := []time.Duration{3 * time.Hour, 30 * time.Minute, 2 * time.Hour, 40 * time.Minute}
	var first []protocol.Refusal
	for turn := range bounds {
		w := newWorld()
		w.facts.Request.EstimatedDelay = 10 * time.Hour
		for i := range bounds {
			w.add(func(c *store.Candidate) { c.DelayBound = bounds[(i+turn)%len(bounds)] })
		}
		m, given := w.assign()
		if len(given) != 0 {
			t.Fatalf("given %v", given)
		}
		if got := m.Refusals(); turn == 0 {
			first = got
		} else if !slices.Equal(got, first) {
			t.Errorf("got %+v, and %+v in another order", got, first)
		}
	}
	if len(first) != 1 || first[0].Code != protocol.RefusedDeadline || first[0].Have != (3*time.Hour).Seconds() || first[0].Count != 4 {
		t.Errorf("got %+v", first)
	}
}
