package agent

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// senseEvery is how often the computer is sensed.
const senseEvery = 2 * time.Second

// Sensors tell what the computer is like just now.
type Sensors interface {
	// Sample senses; programs are those that want the computer for themselves.
	Sample(now time.Time, programs []string) prefs.Conditions
}

// sensing is what the sensors and the loop share.
type sensing struct {
	last     atomic.Pointer[prefs.Conditions] // as last sensed
	prefs    atomic.Pointer[prefs.Effective]  // what to compare by
	programs atomic.Pointer[[]string]         // that want the computer for themselves
}

// sense samples in the background, and has the loop look when that changes what
// may be done.
func (a *Agent) sense(ctx context.Context) {
	ticker := time.NewTicker(senseEvery)
	defer ticker.Stop()
	before := ""
	for {
		c := a.cfg.Sensors.Sample(time.Now(), *a.sensed.programs.Load())
		a.sensed.last.Store(&c)
		if p := a.sensed.prefs.Load(); p != nil {
			does := p.MayCompute(c, prefs.Mode{}).Code + p.MayTransfer(c, prefs.Mode{}).Code
			if p.InUse(c) {
				does += " in use"
			}
			if does != before {
				before = does
				a.post(func() {})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// conditions are what the computer is like just now, as far as is known.
func (a *Agent) conditions(now time.Time) prefs.Conditions {
	c := prefs.Conditions{OtherCPU: -1}
	if last := a.sensed.last.Load(); last != nil {
		c = *last
		if c.IdleKnown {
			c.Idle += max(0, now.Round(0).Sub(c.Now))
		}
	}
	c.Now = now.Round(0)
	h, _ := a.db.Hosts.Get(state.Self)
	p := a.prefs
	c.Transferred = transferredMB(h, p, now)
	a.sensed.prefs.Store(&p)
	return c
}
