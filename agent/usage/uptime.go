package usage

import (
	"math"
	"slices"
	"time"

	"github.com/starling-grid/starling/agent/core"
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

// An Uptime measures which part of the time the agent is on and computes.
type Uptime struct {
	*core.Core

	last   time.Time // with the clock that does not jump
	active bool      // since then, computing was allowed
	online bool
	saved  time.Time
	times  state.Times
	habit  state.Habit
	total  time.Duration // since the start of the agent
	busy   time.Duration // of that, computing was allowed
}

// Open accounts for the time in which no agent ran.
func (up *Uptime) Open(now time.Time) {
	h, _ := up.DB.Hosts.Get(state.Self)
	up.last, up.active, up.online, up.saved, up.times = now, true, true, now, h.Times
	up.habit = state.Habit{Seen: slices.Clone(h.Habit.Seen), Computed: slices.Clone(h.Habit.Computed), Total: h.Habit.Total}
	t := &up.times
	if *t == (state.Times{}) {
		*t = state.Times{On: 1, Active: 1, Connected: 1}
	}
	switch off := now.Sub(h.LastSeen); {
	case h.LastSeen.IsZero():
	case off > 0:
		t.On = average(t.On, 0, off)
		note(&up.habit, h.LastSeen.In(now.Location()), now, false)
	case off < -jump:
		up.Log.Warn("the clock was set back; waiting times keep their length", "by", -off)
		up.setBack(-off)
	}
}

// Count accounts for the time since the last pass, with the values of the last call. active
// (computing is allowed) and online (the network can be used) apply from now on.
func (up *Uptime) Count(now time.Time, active, online bool) {
	dt, wall := now.Sub(up.last), now.Round(0).Sub(up.last.Round(0))
	t := &up.times
	switch gap := wall - dt; {
	case gap > jump: // the computer slept, or its clock was corrected
		up.Log.Info("the clock jumped ahead; was the computer asleep?", "by", gap)
		t.On = average(t.On, 0, gap)
		note(&up.habit, up.last.Round(0), up.last.Round(0).Add(gap), false)
	case gap < -jump:
		up.Log.Warn("the clock was set back; waiting times keep their length", "by", -gap)
		up.setBack(-gap)
	}
	note(&up.habit, now.Round(0).Add(-dt), now.Round(0), up.active)
	t.On = average(t.On, 1, dt)
	t.Active = average(t.Active, truth(up.active), dt)
	t.Connected = average(t.Connected, truth(up.online), dt)
	up.total += dt
	if up.active {
		up.busy += dt
	}
	up.last, up.active, up.online = now, active, online
	if now.Sub(up.saved) >= max(saveEvery, up.Tick) && up.Save(up.Put) {
		up.saved = now
	}
}

// Put makes the fractions part of a change.
func (up *Uptime) Put(tx *state.Tx) {
	if h, ok := up.DB.Hosts.Get(state.Self); ok {
		h.Times, h.LastSeen = up.times, up.last.Round(0)
		h.Habit = state.Habit{Seen: slices.Clone(up.habit.Seen), Computed: slices.Clone(up.habit.Computed), Total: up.habit.Total}
		up.DB.Hosts.Put(tx, state.Self, h)
	}
}

// setBack keeps waits as long as they were when the clock is set back: their ends
// are earlier by as much.
func (up *Uptime) setBack(by time.Duration) {
	earlier := func(t *time.Time) {
		if !t.IsZero() {
			*t = t.Add(-by)
		}
	}
	up.Save(func(tx *state.Tx) {
		for u, p := range up.DB.Projects.All() {
			earlier(&p.Contact.MinRPCTime)
			earlier(&p.Contact.NextRPCTime)
			p.Retries(func(r *state.Retry) { earlier(&r.NextTry) })
			up.DB.Projects.Put(tx, u, p)
		}
		for key, f := range up.DB.Files.All() {
			if !f.NextTry.IsZero() {
				earlier(&f.NextTry)
				earlier(&f.FirstTry)
				up.DB.Files.Put(tx, key, f)
			}
		}
		for key, r := range up.DB.Results.All() {
			if !r.NotBefore.IsZero() {
				earlier(&r.NotBefore)
				up.DB.Results.Put(tx, key, r)
			}
		}
	})
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
