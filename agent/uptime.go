package agent

import (
	"math"
	"time"

	"github.com/starling-grid/starling/state"
)

// fractionHalfLife is how fast the fractions of time forget.
//
// Source: BOINC client/time_stats.cpp, whose averages fall to 1/e in ten days.
const fractionHalfLife = 10 * 24 * time.Hour * 693 / 1000

// jump is the least difference between two clocks that is not mere drift.
const jump = 2 * time.Minute

// average moves an average of the past towards a value that held for dt.
func average(frac, value float64, dt time.Duration) float64 {
	w := math.Exp2(-dt.Seconds() / fractionHalfLife.Seconds())
	return frac*w + value*(1-w)
}

// An uptime measures which part of the time the agent is on and computes.
type uptime struct {
	last   time.Time // with the clock that does not jump
	active bool      // since then, computing was allowed
	online bool
	saved  time.Time
	times  state.Times
	total  time.Duration // since the start of the agent
	busy   time.Duration // of that, computing was allowed
}

// openUptime accounts for the time in which no agent ran.
func (a *Agent) openUptime(now time.Time) {
	h, _ := a.db.Hosts.Get(state.Self)
	a.up = uptime{last: now, active: true, online: true, saved: now, times: h.Times}
	t := &a.up.times
	if *t == (state.Times{}) {
		*t = state.Times{On: 1, Active: 1, Connected: 1}
	}
	switch off := now.Sub(h.LastSeen); {
	case h.LastSeen.IsZero():
	case off > 0:
		t.On = average(t.On, 0, off)
	case off < -jump:
		a.log.Warn("the clock was set back; waits are kept as long as they were", "by", -off)
		a.setBack(-off)
	}
}

// tickUptime accounts for the time since the last pass, in which computing was
// allowed and the network could be used as told then.
func (a *Agent) tickUptime(now time.Time, active, online bool) {
	dt, wall := now.Sub(a.up.last), now.Round(0).Sub(a.up.last.Round(0))
	t := &a.up.times
	switch gap := wall - dt; {
	case gap > jump: // the computer slept, or its clock was put right
		a.log.Info("the clock went ahead; was the computer asleep?", "by", gap)
		t.On = average(t.On, 0, gap)
	case gap < -jump:
		a.log.Warn("the clock was set back; waits are kept as long as they were", "by", -gap)
		a.setBack(-gap)
	}
	t.On = average(t.On, 1, dt)
	t.Active = average(t.Active, truth(a.up.active), dt)
	t.Connected = average(t.Connected, truth(a.up.online), dt)
	a.up.total += dt
	if a.up.active {
		a.up.busy += dt
	}
	a.up.last, a.up.active, a.up.online = now, active, online
	if now.Sub(a.up.saved) >= max(saveDebts, a.cfg.tick()) && a.save(a.putTimes) {
		a.up.saved = now
	}
}

// putTimes makes the fractions part of a change.
func (a *Agent) putTimes(tx *state.Tx) {
	if h, ok := a.db.Hosts.Get(state.Self); ok {
		h.Times, h.LastSeen = a.up.times, a.up.last.Round(0)
		a.db.Hosts.Put(tx, state.Self, h)
	}
}

// setBack keeps waits as long as they were when the clock is set back: their ends
// are earlier by as much.
func (a *Agent) setBack(by time.Duration) {
	earlier := func(t *time.Time) {
		if !t.IsZero() {
			*t = t.Add(-by)
		}
	}
	a.save(func(tx *state.Tx) {
		for u, p := range a.db.Projects.All() {
			earlier(&p.Contact.MinRPCTime)
			earlier(&p.Contact.NextRPCTime)
			earlier(&p.Fetch.NextTry)
			a.db.Projects.Put(tx, u, p)
		}
		for key, f := range a.db.Files.All() {
			if !f.NextTry.IsZero() {
				earlier(&f.NextTry)
				earlier(&f.FirstTry)
				a.db.Files.Put(tx, key, f)
			}
		}
		for key, r := range a.db.Results.All() {
			if !r.NotBefore.IsZero() {
				earlier(&r.NotBefore)
				a.db.Results.Put(tx, key, r)
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
