package usage

import (
	"math"
	"time"

	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/state"
)

const (
	// habitHalfLife is the half-life of observations of an hour of the day, in time observed in
	// that hour: the last four working days have half of the weight.
	habitHalfLife = 4 * time.Hour
	// habitPrior is the weight of the average of all hours relative to the observations of one
	// hour.
	habitPrior = time.Hour
	// habitLeast is the minimum time of observation before there is a habit at all.
	habitLeast = 5 * 24 * time.Hour
	// habitMost is the maximum part that is considered of a time without an agent.
	habitMost = 28 * 24 * time.Hour
)

// note adds a time during which the computer computed or not to the observations of the hours of
// days. It considers at most habitMost before the end of that time.
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

// habitOf returns the habit observed so far. overall is the part of all time in which the computer
// computes. It returns nil while there are too few observations.
func habitOf(h state.Habit, overall float64) jobsched.Habit {
	if h.Total < habitLeast.Seconds() || len(h.Seen) != jobsched.HabitHours || len(h.Computed) != jobsched.HabitHours {
		return nil
	}
	out := make(jobsched.Habit, jobsched.HabitHours)
	prior := habitPrior.Seconds()
	for i := range out {
		// In thousandths, so that recorded decisions need not be long.
		out[i] = math.Round(1000*(h.Computed[i]+prior*overall)/(h.Seen[i]+prior)) / 1000
	}
	return out
}
