package usage

import (
	"slices"
	"sync"
	"time"
)

// The hottest of each step is kept, for a day.
const (
	heatStep  = 5 * time.Minute
	heatSteps = int(24 * time.Hour / heatStep)
)

// A Heat has the recent temperatures of a processor, for a chart. The zero value is empty. It
// is only kept in memory. Its methods may be called concurrently.
type Heat struct {
	mu    sync.Mutex
	now   Hottest   // of the step that lasts
	steps []Hottest // oldest first
}

// A Hottest is the highest temperature of a step.
type Hottest struct {
	Start   time.Time // of the step
	Celsius float64
}

// Add adds a reading, in °C. 0 means that there is no sensor. If the clock is set back, the chart
// starts again.
func (h *Heat) Add(now time.Time, celsius float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	start := now.UTC().Truncate(heatStep)
	switch {
	case start.Before(h.now.Start):
		h.now, h.steps = Hottest{}, nil
	case start.After(h.now.Start) && h.now.Celsius > 0:
		h.steps = append(h.steps, h.now)
		h.steps = h.steps[max(0, len(h.steps)-heatSteps):]
		h.now = Hottest{}
	}
	oldest := start.Add(-time.Duration(heatSteps) * heatStep)
	for len(h.steps) > 0 && h.steps[0].Start.Before(oldest) {
		h.steps = h.steps[1:]
	}
	h.now = Hottest{start, max(celsius, h.now.Celsius)}
}

// Steps returns the complete steps, oldest first: at most a day. Steps without a measurement are
// left out.
func (h *Heat) Steps() []Hottest {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.steps)
}
