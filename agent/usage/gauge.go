package usage

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/resource"
)

// A Meter reads the sensors of the computer's GPUs.
type Meter interface {
	// Read returns the readings. nvidia reports whether those from NVIDIA's driver are wanted.
	Read(ctx context.Context, now time.Time, nvidia bool) []gpus.Reading
}

// A Gauge has the sensors' readings for the GPUs that tasks may use.
type Gauge struct {
	Meter Meter // nil: nothing is known
	Heat  Heat  // of the hottest, lately

	set    atomic.Pointer[gpus.Set] // what tasks may use
	last   atomic.Pointer[[]gpus.Measured]
	at     time.Time
	recent []Hottest // of the last prefs.GPUCooling, oldest first
}

// sense reads the sensors, if that is due, and adds what limits are compared with.
func (g *Gauge) sense(ctx context.Context, now time.Time, c *prefs.Conditions) {
	set := g.set.Load()
	if g.Meter == nil || set == nil || len(set.Groups) == 0 && len(g.Measured()) == 0 {
		return
	}
	if g.at.IsZero() || now.Sub(g.at) >= gpus.ReadEvery {
		g.at = now
		list := set.Measure(g.Meter.Read(ctx, now, set.Of(resource.NVIDIA) != nil))
		g.last.Store(&list)
		hottest := gpus.Hottest(list)
		g.Heat.Add(now, hottest)
		g.recent = append(g.recent, Hottest{now, hottest})
	}
	for len(g.recent) > 0 && now.Sub(g.recent[0].Start) > prefs.GPUCooling {
		g.recent = g.recent[1:]
	}
	for _, x := range g.recent {
		c.GPUTemperature = max(c.GPUTemperature, x.Celsius)
	}
}

// Measured returns the last readings of the sensors. It may be called concurrently.
func (g *Gauge) Measured() []gpus.Measured {
	if list := g.last.Load(); list != nil {
		return *list
	}
	return nil
}
