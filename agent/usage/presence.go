package usage

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/internal/beat"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// These are the pauses between samples. Samples are frequent while tasks compute that must make
// room as soon as somebody comes, and rare while a delay only lets tasks start a little later.
const (
	sensePromptly = 2 * time.Second
	senseEvery    = 5 * time.Second
	senseSeldom   = 10 * time.Second
)

// Sensors read the current conditions of the computer.
type Sensors interface {
	// Sample reads the sensors. programs are the programs that want the computer for themselves,
	// and onGPU those that want the GPUs.
	Sample(now time.Time, programs, onGPU []string) prefs.Conditions
}

// A Presence has the current conditions of the computer. The sensors and the loop share it.
type Presence struct {
	*core.Core
	Sensors Sensors // nil: nothing is known
	// Powers returns the numbers from outside that keep tasks from running now.
	Powers func(now time.Time) []prefs.Power

	Heat  Heat // of the CPU, lately
	Gauge Gauge

	last     atomic.Pointer[prefs.Conditions] // as last sensed
	by       atomic.Pointer[prefs.Effective]  // what to compare by
	programs atomic.Pointer[[2][]string]      // that want the computer for themselves, or the GPUs
	computes atomic.Bool                      // tasks do
	hurry    chan struct{}                    // they have started to (see started)
	once     sync.Once
}

// started returns hurry.
func (p *Presence) started() chan struct{} {
	p.once.Do(func() { p.hurry = make(chan struct{}, 1) })
	return p.hurry
}

// Attend sets whether tasks compute, so that they may be in the way of a person.
func (p *Presence) Attend(computes bool) {
	if p.computes.Swap(computes) || !computes {
		return
	}
	select {
	case p.started() <- struct{}{}:
	default: // it has not taken note of the last time yet
	}
}

// every returns the current interval of reading the sensors.
func (p *Presence) every() time.Duration {
	if !p.computes.Load() {
		return senseSeldom
	}
	by, set := p.by.Load(), p.Gauge.set.Load()
	if by != nil && (!by.RunIfUserActive || !by.RunGPUIfUserActive && set != nil && len(set.Groups) > 0) {
		return sensePromptly
	}
	return senseEvery
}

// Sense samples in the background, and makes the loop look when a sample changes what may run. It
// compares with the last sample, both as it was and as the loop sees it by now, because without
// input the loop may meanwhile take the computer for idle although the next sample finds it in use
// as before.
func (p *Presence) Sense(ctx context.Context) {
	ticker := beat.NewTicker("sensors of use, load and temperature", p.every())
	defer ticker.Stop()
	var before reason.Code
	for {
		programs := p.programs.Load()
		c := p.Sensors.Sample(time.Now(), programs[0], programs[1])
		p.Gauge.sense(ctx, time.Now(), &c)
		last := p.last.Swap(&c)
		p.Heat.Add(time.Now(), c.Temperature)
		if by := p.by.Load(); by != nil {
			does := verdict(by, c)
			if does != before || last != nil && does != verdict(by, aged(*last, time.Now())) {
				before = does
				p.Post(Sensed{})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-p.started():
		case <-ticker.C:
		}
		ticker.Again(p.every())
	}
}

// verdict returns codes that change if the conditions change the agent's permissions.
func verdict(by *prefs.Effective, c prefs.Conditions) reason.Code {
	does := by.MayCompute(c, prefs.Mode{}).Code + by.MayTransfer(c, prefs.Mode{}).Code + by.MayUseGPUs(c, prefs.Mode{}).Code
	if by.InUse(c) {
		does += " in use"
	}
	return does
}

// aged are conditions some time after they were sensed.
func aged(c prefs.Conditions, now time.Time) prefs.Conditions {
	now = now.Round(0)
	if c.IdleKnown {
		c.Idle += max(0, now.Sub(c.Now))
	}
	c.Now = now
	return c
}

// Watch sets the programs that the sensors look for: programs that need the computer for
// themselves, and programs that need its GPUs.
func (p *Presence) Watch(programs, onGPU []string) { p.programs.Store(&[2][]string{programs, onGPU}) }

// Conditions returns the current conditions of the computer, as far as they are known.
func (p *Presence) Conditions(now time.Time) prefs.Conditions {
	c := prefs.Conditions{OtherCPU: -1}
	if last := p.last.Load(); last != nil {
		c = aged(*last, now)
	}
	c.Now = now.Round(0)
	if p.Powers != nil {
		c.Powers = p.Powers(c.Now)
	}
	h, _ := p.DB.Hosts.Get(state.Self)
	by, set := p.Prefs, p.Coprocs
	c.Transferred = TransferredMB(h, by, now)
	p.by.Store(&by)
	p.Gauge.set.Store(&set)
	return c
}

// TransferredMB returns the traffic in the period of the preferences' limit.
func TransferredMB(h state.Host, p prefs.Effective, now time.Time) float64 {
	return state.TrafficSince(h.Traffic, now, int(p.DailyXferPeriodDays)) / prefs.MB
}
