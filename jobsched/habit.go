package jobsched

import (
	"sort"
	"time"
)

// A Habit has the hours at which a computer usually computes: the part of each hour that it spends
// computing, for the 24 hours of a working day followed by the 24 hours of a day at the weekend, in
// local time. A slice with any other number of entries is not a habit.
//
// A computer that is only on in the evenings can do a task of six hours within 60 hours if it
// starts at six, but not if it starts at ten. Its average, five hours a day, does not show the
// difference.
type Habit []float64

// HabitHours is the number of entries in a Habit.
const HabitHours = 48

// HabitHour returns the entry for a moment.
func HabitHour(t time.Time) int {
	if d := t.Weekday(); d == time.Saturday || d == time.Sunday {
		return 24 + t.Hour()
	}
	return t.Hour()
}

// hoursOfWeek is the number of hours considered. After that they repeat.
const hoursOfWeek = 7 * 24

// A clock computes the time until a given amount of computing is done.
type clock struct {
	frac  float64         // used without a habit
	first time.Duration   // until the next full hour
	done  []time.Duration // computing until the end of the first hour, and of each after it for a week
}

// newClock returns the clock of a habit. Without a habit, a part frac of any time is spent
// computing.
//
// Nothing is computed in the closed times of a forecast. Both the habit and frac are averages that
// include such times of the past, so the rest of the time that it covers counts for more. It repeats
// after a week, too, which matters little.
func newClock(now time.Time, h Habit, frac float64, f Forecast) clock {
	if frac <= 0 || frac > 1 {
		frac = 1
	}
	c := clock{frac: frac}
	habit := len(h) == HabitHours && frac < 1
	if !habit && len(f.Closed) == 0 {
		return c
	}
	hour := now.Truncate(time.Hour)
	if over := now.Minute()*60 + now.Second(); over > 0 { // zones are not all of full hours
		hour = now.Add(-time.Duration(over)*time.Second - time.Duration(now.Nanosecond()))
	}
	c.first = hour.Add(time.Hour).Sub(now)
	c.done = make([]time.Duration, hoursOfWeek+1)
	share := f.open(now)
	sum := time.Duration(0)
	for i := range c.done {
		part, begin, length := frac, hour, time.Hour
		if habit {
			part = min(max(h[HabitHour(hour)], 0), 1)
		}
		if i == 0 {
			begin, length = now, c.first
		}
		end := begin.Add(length)
		if !end.After(f.Until) && share > 0 {
			part = min(part/share, 1)
		}
		sum += time.Duration(part * float64(max(length-f.closed(begin, end), 0)))
		c.done[i] = sum
		hour = hour.Add(time.Hour)
	}
	if sum-c.done[0] < time.Minute { // it is hardly ever on, so this is useless
		c.done = nil
	}
	return c
}

// slack returns how long a job that is done after so much work could wait. With a habit it is
// measured in computing time before the deadline, otherwise in time.
func (c *clock) slack(deadline, work, margin time.Duration) time.Duration {
	if c.done == nil {
		return deadline - c.until(work) - margin
	}
	return c.by(deadline) - work - margin
}

// by returns how much is computed within a time, which may be negative.
func (c *clock) by(wall time.Duration) time.Duration {
	if wall <= 0 {
		return wall
	}
	week, sum := 7*24*time.Hour, time.Duration(0)
	if over := wall - c.first; over > week {
		weeks := (over - 1) / week
		sum, wall = weeks*(c.done[hoursOfWeek]-c.done[0]), wall-weeks*week
	}
	i, begin, before, length := 0, time.Duration(0), time.Duration(0), c.first
	if wall > c.first {
		i = 1 + int((wall-c.first-1)/time.Hour)
		begin, before, length = c.first+time.Duration(i-1)*time.Hour, c.done[i-1], time.Hour
	}
	return sum + before + time.Duration(float64(c.done[i]-before)*float64(wall-begin)/float64(length))
}

// A Clock computes how much a computer will compute, by its habit.
type Clock struct{ clock clock }

// NewClock returns the clock of a computer that computes a part onFrac of the time, and has a
// forecast. ok is false if its habit is not known or it computes always, and the forecast closes no
// time.
func NewClock(now time.Time, h Habit, onFrac float64, f Forecast) (c Clock, ok bool) {
	c.clock = newClock(now, h, onFrac, f)
	return c, c.clock.done != nil
}

// Within returns how long the computer computes within a time from now on.
func (c Clock) Within(wall time.Duration) time.Duration { return c.clock.by(wall) }

// until returns how long it takes until so much has been computed, at most forever.
func (c *clock) until(work time.Duration) time.Duration {
	if c.done == nil {
		return time.Duration(min(float64(work)/c.frac, float64(forever)))
	}
	week := c.done[hoursOfWeek] - c.done[0]
	wall := time.Duration(0)
	if over := work - c.done[0]; over > week {
		weeks := (over - 1) / week
		if weeks > forever/(7*24*time.Hour) {
			return forever
		}
		wall, work = weeks*7*24*time.Hour, work-weeks*week
	}
	i := sort.Search(len(c.done), func(i int) bool { return c.done[i] >= work })
	if i == len(c.done) {
		i--
	}
	begin, before, length := time.Duration(0), time.Duration(0), c.first
	if i > 0 {
		begin, before, length = c.first+time.Duration(i-1)*time.Hour, c.done[i-1], time.Hour
	}
	wall += begin
	if within := c.done[i] - before; within > 0 {
		wall += time.Duration(float64(length) * min(1, float64(work-before)/float64(within)))
	}
	return min(wall, forever)
}
