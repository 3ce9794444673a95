package usage

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/state"
)

// A computer that is on in the evenings is known to be so after a week, and forgets it when that
// changes.
func TestHabit(t *testing.T) {
	var h state.Habit
	zone := time.FixedZone("", 5400) // not all zones are of full hours
	day := func(d, from, to int) {
		at := func(hour int) time.Time { return time.Date(2026, 11, 2+d, hour, 0, 0, 0, zone) } // a Monday
		note(&h, at(0), at(from), false)
		note(&h, at(from), at(to), true)
		note(&h, at(to), at(24), false)
	}
	for d := range 4 {
		day(d, 18, 23)
	}
	if habitOf(h, 0.2) != nil {
		t.Error("four days make a habit")
	}
	for d := range 10 {
		day(4+d, 18, 23)
	}
	got := habitOf(h, 0.2)
	if len(got) != jobsched.HabitHours || got[20] < 0.8 || got[12] > 0.2 || got[24+20] < 0.7 || got[24+3] > 0.2 {
		t.Errorf("habit %v", got)
	}
	for d := range 10 {
		day(14+d, 8, 12)
	}
	if got = habitOf(h, 0.2); got[20] > 0.35 || got[10] < 0.65 {
		t.Errorf("after a change %v", got)
	}
	before := h.Total
	note(&h, time.Date(2020, 1, 1, 0, 0, 0, 0, zone), time.Date(2026, 12, 1, 0, 30, 0, 0, zone), false)
	if h.Total-before != habitMost.Seconds() {
		t.Errorf("years without an agent count for %v", time.Duration(h.Total-before)*time.Second)
	}
	if habitOf(state.Habit{Total: 1e9, Seen: []float64{1}}, 0.5) != nil {
		t.Error("a habit of what cannot be read")
	}
}
