package usage_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/usage"
)

func TestHeatKeepsTheHottestOfEachStep(t *testing.T) {
	var h usage.Heat
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for i, c := range []float64{50, 71, 60, 0} {
		h.Add(noon.Add(time.Duration(i)*time.Minute), c)
	}
	if got := h.Steps(); len(got) > 0 {
		t.Errorf("a step that lasts: %v", got)
	}
	h.Add(noon.Add(6*time.Minute), 40)
	h.Add(noon.Add(16*time.Minute), 0) // one was slept through
	got := h.Steps()
	if len(got) != 2 || got[0] != (usage.Hottest{Start: noon, Celsius: 71}) || got[1] != (usage.Hottest{Start: noon.Add(5 * time.Minute), Celsius: 40}) {
		t.Errorf("got %v", got)
	}
	for i := range 3000 {
		h.Add(noon.Add(20*time.Minute+time.Duration(i)*time.Minute), 55)
	}
	last := noon.Add(20*time.Minute + 2999*time.Minute)
	if got = h.Steps(); len(got) < 280 || len(got) > 288 || last.Sub(got[0].Start) > 24*time.Hour+5*time.Minute {
		t.Errorf("%d steps since %v", len(got), got[0].Start)
	}
	h.Add(last.Add(48*time.Hour), 55)
	if got = h.Steps(); len(got) > 1 {
		t.Errorf("after two days asleep: %d steps", len(got))
	}
	h.Add(noon, 55)
	if got = h.Steps(); len(got) > 0 {
		t.Errorf("after the clock was set back: %v", got)
	}
}

func TestWithoutASensorThereIsNoHeat(t *testing.T) {
	var h usage.Heat
	for i := range 100 {
		h.Add(time.Unix(int64(i)*300, 0), 0)
	}
	if got := h.Steps(); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}
