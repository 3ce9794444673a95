package usage

import (
	"math"
	"slices"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/internal/boottime"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// fractionHalfLife is the half-life of the fractions of time.
//
// Source: BOINC client/time_stats.cpp, whose averages fall to 1/e in ten days.
const fractionHalfLife = 10 * 24 * time.Hour * 693 / 1000

// jump is the least difference between two clocks that is not mere drift.
const jump = 2 * time.Minute

// average moves an average of the past towards a value that lasted for dt.
func average(frac, value float64, dt time.Duration) float64 {
	w := math.Exp2(-dt.Seconds() / fractionHalfLife.Seconds())
	return frac*w + value*(1-w)
}

// An Uptime measures which part of the time the agent is on and computes. It keeps waits as long as
// they were when the computer's clock is set.
type Uptime struct {
	*core.Core

	seen   time.Time     // the last look at the clock
	seenAt boottime.Time // the same by a clock that runs during sleep
	set    time.Duration // by which the clock was set, as far as no wait was changed yet

	last   time.Time     // with the clock that does not jump
	at     boottime.Time // the same by a clock that runs during sleep
	active bool          // since then, computing was allowed
	online bool
	saved  time.Time
	times  state.Times
	habit  state.Habit
	total  time.Duration // since the start of the agent
	busy   time.Duration // of that, computing was allowed
}

// Open accounts for the time in which no agent ran. It must precede everything that records the
// current time. A clock that was set ahead while no agent ran is taken for a longer time without one.
func (up *Uptime) Open(now time.Time) {
	h, _ := up.DB.Hosts.Get(state.Self)
	up.at, _ = boottime.Now()
	up.seen, up.seenAt = now, up.at
	up.last, up.active, up.online, up.saved, up.times = now, true, true, now, h.Times
	up.habit = state.Habit{Seen: slices.Clone(h.Habit.Seen), Computed: slices.Clone(h.Habit.Computed), Total: h.Habit.Total}
	t := &up.times
	if *t == (state.Times{}) {
		*t = state.Times{On: 1, Active: 1, Connected: 1}
	}
	switch off := now.Sub(h.LastSeen); {
	case h.LastSeen.IsZero():
	case off > 0:
		t.On = average(t.On, 0, min(off, habitMost)) // the clock may be years ahead
		note(&up.habit, h.LastSeen.In(now.Location()), now, false)
	default:
		up.clockSet(off, now)
	}
}

// Watch keeps waits as long as they were if the clock was set since the last call. It must precede
// everything that reads or records the current time.
func (up *Uptime) Watch(now time.Time) {
	at, sleeps := boottime.Now()
	set := passed(up.seen, now, up.seenAt, at, sleeps).set()
	up.seen, up.seenAt = now, at
	up.clockSet(set, now)
}

// clockSet changes the waits when the clock was set by so much. If that cannot be saved, the next
// call tries it again.
func (up *Uptime) clockSet(by time.Duration, now time.Time) {
	switch {
	case by > jump:
		up.Log.Warn("the clock was set ahead; waiting times keep their length", "by", by.Round(time.Second))
		up.set += by
	case by < -jump:
		up.Log.Warn("the clock was set back; waiting times keep their length", "by", -by.Round(time.Second))
		up.set += by
	}
	if up.set != 0 && !now.Before(up.SaveAgain) {
		up.save(now)
	}
}

// A passage is the time between two passes, by three clocks: one that stands still during sleep, one
// that runs, and the one that people set.
type passage struct{ awake, all, wall time.Duration }

// set returns the time by which the clock was set.
func (p passage) set() time.Duration { return p.wall - p.all }

// passed returns the passage between two moments. Where no clock runs during sleep, a clock that is
// ahead is taken for sleep.
func passed(last, now time.Time, lastAt, at boottime.Time, sleeps bool) passage {
	p := passage{awake: now.Sub(last), all: at.Sub(lastAt), wall: now.Round(0).Sub(last.Round(0))}
	if !sleeps {
		p.all = max(p.awake, p.wall)
	}
	return p
}

// Count accounts for the time since the last pass, with the values of the last call. active
// (computing is allowed) and online (the network can be used) apply from now on.
func (up *Uptime) Count(now time.Time, active, online bool) {
	at, sleeps := boottime.Now()
	up.count(now, passed(up.last, now, up.at, at, sleeps))
	up.last, up.at, up.active, up.online = now, at, active, online
	if now.Sub(up.saved) >= max(saveEvery, up.Tick) {
		up.save(now)
	}
}

func (up *Uptime) count(now time.Time, p passage) {
	t := &up.times
	if asleep := p.all - p.awake; asleep > jump {
		up.Log.Info("the computer was asleep", "for", asleep.Round(time.Second))
		t.On = average(t.On, 0, asleep)
		note(&up.habit, now.Round(0).Add(-p.all), now.Round(0).Add(-p.awake), false)
	}
	note(&up.habit, now.Round(0).Add(-p.awake), now.Round(0), up.active)
	t.On = average(t.On, 1, p.awake)
	t.Active = average(t.Active, truth(up.active), p.awake)
	t.Connected = average(t.Connected, truth(up.online), p.awake)
	up.total += p.awake
	if up.active {
		up.busy += p.awake
	}
}

// Put makes the fractions part of a change, and the waits that are due to be changed. The time when
// the agent was last seen changes with them, so that a clock which was set is noticed only once.
func (up *Uptime) Put(tx *state.Tx) {
	up.DB.Shift(tx, up.set)
	if h, ok := up.DB.Hosts.Get(state.Self); ok {
		h.Times, h.LastSeen = up.times, up.seen.Round(0)
		h.Habit = state.Habit{Seen: slices.Clone(up.habit.Seen), Computed: slices.Clone(up.habit.Computed), Total: up.habit.Total}
		up.DB.Hosts.Put(tx, state.Self, h)
	}
}

func (up *Uptime) save(now time.Time) {
	if up.Save(up.Put) {
		up.saved, up.set = now, 0
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Habit returns the hours at which this computer computes, or nil if unknown yet.
func (up *Uptime) Habit() jobsched.Habit { return habitOf(up.habit, up.times.On*up.times.Active) }

// Stats returns how much this computer computes.
func (up *Uptime) Stats(now time.Time) protocol.TimeStats {
	t := up.times
	h, _ := up.DB.Hosts.Get(state.Self)
	return protocol.TimeStats{
		OnFrac: t.On, ConnectedFrac: t.Connected, CPUAndNetworkAvailableFrac: min(t.Active, t.Connected), ActiveFrac: t.Active,
		ClientStart: up.Since, TotalStart: h.InstalledAt, Now: now,
		TotalDuration: up.total, TotalActiveDuration: up.busy, SessionActiveDuration: up.busy,
	}
}
