package jobsched

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// evenings returns the habit of a computer that is on from 18:00 to 23:00, and at weekends from
// 10:00.
func evenings() Habit {
	h := make(Habit, HabitHours)
	for i := range 24 {
		if i >= 18 && i < 23 {
			h[i] = 1
		}
		if i >= 10 && i < 23 {
			h[24+i] = 1
		}
	}
	return h
}

func TestClock(t *testing.T) {
	monday := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name string
		now  time.Duration // since Monday
		work time.Duration
		want time.Duration // since Monday
	}{
		{"within an evening", 18 * time.Hour, 3 * time.Hour, 21 * time.Hour},
		{"the whole evening", 18 * time.Hour, 5 * time.Hour, 23 * time.Hour},
		{"the next evening", 18 * time.Hour, 6 * time.Hour, 43 * time.Hour},
		{"late on the first", 22*time.Hour + 30*time.Minute, 6 * time.Hour, 2*24*time.Hour + 18*time.Hour + 30*time.Minute}, // half an hour, five, half an hour
		{"nothing", 3 * time.Hour, 0, 3 * time.Hour},
		{"in the night", 3 * time.Hour, time.Hour, 19 * time.Hour},
		{"over the weekend", 4*24*time.Hour + 18*time.Hour, 6 * time.Hour, 5*24*time.Hour + 11*time.Hour},
		{"a week of computing", 18 * time.Hour, (5*5 + 2*13) * time.Hour, 7*24*time.Hour - time.Hour},
		{"and an hour more", 18 * time.Hour, (5*5+2*13)*time.Hour + time.Hour, 7*24*time.Hour + 19*time.Hour},
	} {
		c := newClock(monday.Add(tt.now), evenings(), 0.3, Forecast{})
		if got := tt.now + c.until(tt.work); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if c := newClock(monday, make(Habit, HabitHours), 0.5, Forecast{}); c.until(time.Hour) != 2*time.Hour {
		t.Errorf("a computer that is never on: %v", c.until(time.Hour))
	}
	if c := newClock(monday, nil, 0.25, Forecast{}); c.until(time.Hour) != 4*time.Hour {
		t.Errorf("no habit: %v", c.until(time.Hour))
	}
}

// Nothing is computed in the times that a forecast closes, with a habit or without one.
func TestClosedTimes(t *testing.T) {
	monday := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	at := func(hours float64) time.Time { return monday.Add(time.Duration(hours * float64(time.Hour))) }
	day := []Closed{{at(0), at(2)}, {at(19.5), at(21)}}
	for _, tt := range []struct {
		name   string
		now    float64 // hours since Monday
		habit  Habit
		frac   float64
		closed []Closed
		work   float64 // hours
		want   float64 // hours since Monday
	}{
		{"always on", 0, nil, 1, day, 3, 5},
		{"always on, into the second", 1.5, nil, 1, day, 18, 21.5},
		{"on for a quarter of the time, and half of the day is open", 0, nil, 0.25, []Closed{{at(0), at(12)}}, 1, 14},
		{"in the evening", 18, evenings(), 0.3, day, 2, 21.5},
		{"in the next evening", 18, evenings(), 0.3, day, 4, 42.5},
		{"it is over", 22, evenings(), 0.3, []Closed{{at(10), at(22)}}, 1, 23},
		{"all that is known", 0, nil, 1, []Closed{{at(0), at(48)}}, 1, 49},
	} {
		now := at(tt.now)
		c := newClock(now, tt.habit, tt.frac, Forecast{now.Add(24 * time.Hour), tt.closed})
		work := time.Duration(tt.work * float64(time.Hour))
		if got := at(tt.now).Add(c.until(work)); got.Sub(at(tt.want)).Abs() > time.Microsecond {
			t.Errorf("%s: at %v, want %v", tt.name, got, at(tt.want))
		}
		if got := c.by(at(tt.want).Sub(at(tt.now))); (got - work).Abs() > time.Microsecond {
			t.Errorf("%s: %v is computed until then, want %v", tt.name, got, work)
		}
	}
}

// More work is never done earlier, and no work faster than it takes.
func TestClockProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Habit(rapid.SliceOfN(rapid.Float64Range(0, 1), HabitHours, HabitHours).Draw(t, "habit"))
		now := time.Unix(rapid.Int64Range(1e9, 2e9).Draw(t, "now"), rapid.Int64Range(0, 999999999).Draw(t, "nanoseconds")).In(time.FixedZone("", rapid.IntRange(-14*60, 14*60).Draw(t, "zone")*60))
		hours := func(from, to float64, name string) time.Duration {
			return time.Duration(rapid.Float64Range(from, to).Draw(t, name) * float64(time.Hour))
		}
		f := Forecast{Until: now.Add(hours(-2, 80, "until"))}
		for at := now.Add(hours(-2, 20, "first")); len(f.Closed) < 5 && rapid.Bool().Draw(t, "closed"); {
			c := Closed{at, at.Add(hours(0, 12, "length"))}
			f.Closed, at = append(f.Closed, c), c.End.Add(hours(0, 12, "gap"))
		}
		c := newClock(now, h, rapid.Float64Range(0.01, 1).Draw(t, "frac"), f)
		a := time.Duration(rapid.Int64Range(0, int64(forever)).Draw(t, "work"))
		b := a + time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "more"))
		// until and by are inverse to each other except for rounding, unless it takes forever.
		if u := c.until(a); u < forever && c.done != nil {
			if back := c.by(u); back-a > time.Second || a-back > time.Second {
				t.Fatalf("%v takes %v, in which %v is done", a, u, back)
			}
		}
		ua, ub := c.until(a), c.until(min(b, forever))
		if ua > ub || ua < a-time.Second && ua < forever || ua < 0 || ub > forever {
			t.Fatalf("%v takes %v, %v takes %v", a, ua, b, ub)
		}
	})
}
