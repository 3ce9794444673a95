package usage

import (
	"math"
	"time"

	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/state"
)

const (
	// habitHalfLife is how fast what was seen of an hour of the day is forgotten, in time seen of
	// that hour: four working days are half of what is known.
	habitHalfLife = 4 * time.Hour
	// habitPrior is for how much the average of all hours counts beside what was seen of one.
	habitPrior = time.Hour
	// habitLeast is how long must have been seen before there is a habit at all.
	habitLeast = 5 * 24 * time.Hour
	// habitMost bounds how much of a time without an agent is looked at.
	habitMost = 28 * 24 * time.Hour
)

// note adds a time, at most habitMost of it before its end, in which the computer computed or not
// to what is known of the hours of days.
func note(h *state.Habit, from, to time.Time, computed bool) {
	if to.Sub(from) > habitMost {
		from = to.Add(-habitMost)
	}
	if len(h.Seen) != jobsched.HabitHours || len(h.Computed) != jobsched.HabitHours {
		*h = state.Habit{Seen: make([]float64, jobsched.HabitHours), Computed: make([]float64, jobsched.HabitHours)}
	}
	for from.Before(to) {
		end := from.Truncate(time.Minute).Add(time.Duration(60-from.Minute()) * time.Minute)
		if end.After(to) {
			end = to
		}
		dt := end.Sub(from).Seconds()
		i := jobsched.HabitHour(from)
		w := math.Exp2(-dt / habitHalfLife.Seconds())
		h.Seen[i] = h.Seen[i]*w + dt
		h.Computed[i] *= w
		if computed {
			h.Computed[i] += dt
		}
		h.Total += dt
		from = end
	}
}

// habitOf is what is known by now; overall is the part of all time in which the computer computes.
// It is nil while too little was seen.
func habitOf(h state.Habit, overall float64) jobsched.Habit {
	if h.Total < habitLeast.Seconds() || len(h.Seen) != jobsched.HabitHours || len(h.Computed) != jobsched.HabitHours {
		return nil
	}
	out := make(jobsched.Habit, jobsched.HabitHours)
	prior := habitPrior.Seconds()
	for i := range out {
		// In thousandths: what is kept of decisions need not be long.
		out[i] = math.Round(1000*(h.Computed[i]+prior*overall)/(h.Seen[i]+prior)) / 1000
	}
	return out
}
