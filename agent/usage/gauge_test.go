package usage_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/internal/beat"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/resource"
)

// card is a GPU at a temperature.
type card struct{ celsius atomic.Int64 }

func (c *card) Read(context.Context, time.Time, bool) []gpus.Reading {
	return []gpus.Reading{{Kind: "ATI", PCI: "a", Celsius: float64(c.celsius.Load()), Busy: -1}, {Kind: "ATI", PCI: "b", Celsius: 99, Busy: -1}}
}

func (*card) Sample(now time.Time, _, _ []string) prefs.Conditions { return prefs.Conditions{Now: now} }

// A GPU that was hot counts as hot until it has been cool for a while, so that tasks do not
// stop and start every few seconds. One that tasks may not use does not count.
func TestAGPUCoolsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := statetest.Open(t, t.TempDir())
		c := new(card)
		c.celsius.Store(60)
		p := usage.Presence{Core: &core.Core{DB: db, Prefs: prefs.Merge()}, Sensors: c}
		p.Gauge.Meter = c
		p.Coprocs = gpus.Set{Groups: []gpus.Group{{Kind: resource.ATI, Devices: []gpus.Device{{Kind: "ATI", PCI: "a"}}}}}
		p.Watch(nil, nil)
		at := func() float64 { return p.Conditions(time.Now()).GPUTemperature }
		at() // the loop determines which GPUs tasks may use
		go p.Sense(t.Context())
		wait := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		wait(15 * time.Second)
		if got := at(); got != 60 {
			t.Errorf("at first %v", got)
		}
		c.celsius.Store(90)
		wait(gpus.ReadEvery + 2*time.Second)
		if got := at(); got != 90 {
			t.Errorf("when it is hot: %v", got)
		}
		c.celsius.Store(50)
		wait(gpus.ReadEvery + 2*time.Second)
		if got, now := at(), gpus.Hottest(p.Gauge.Measured()); got != 90 || now != 50 {
			t.Errorf("just after: %v, and %v to be shown", got, now)
		}
		wait(prefs.GPUCooling + gpus.ReadEvery)
		if got := at(); got != 50 {
			t.Errorf("when it has cooled: %v", got)
		}
		if n := len(p.Gauge.Heat.Steps()); n > 0 {
			t.Errorf("%d steps of minutes that are not over", n)
		}
		wait(6 * time.Minute)
		if steps := p.Gauge.Heat.Steps(); len(steps) != 1 && len(steps) != 2 || steps[0].Celsius != 90 {
			t.Errorf("steps %v", steps)
		}
		c.celsius.Store(0) // the sensor fails
		wait(prefs.GPUCooling + gpus.ReadEvery + 2*time.Second)
		if got := at(); got != 0 {
			t.Errorf("without a sensor: %v", got)
		}
	})
}

// typist is a computer that somebody used at a time.
type typist struct{ input atomic.Pointer[time.Time] }

func (t *typist) Sample(now time.Time, _, _ []string) prefs.Conditions {
	return prefs.Conditions{Now: now.Round(0), IdleKnown: true, Idle: now.Sub(*t.input.Load())}
}

// Somebody who returns just when the computer has become idle is noticed, although both samples find
// it in use.
func TestAReturnBetweenSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := statetest.Open(t, t.TempDir())
		time.Sleep(time.Until(beat.Next(time.Now(), time.Hour))) // all periods start now
		sensors, begin := new(typist), time.Now()
		sensors.input.Store(&begin)
		c := &core.Core{DB: db, Prefs: prefs.Merge()}
		c.Open()
		defer c.End()
		c.Prefs.RunIfUserActive, c.Prefs.IdleTimeToRun = false, 1.05
		p := usage.Presence{Core: c, Sensors: sensors}
		p.Watch(nil, nil)
		inUse := func() bool { return c.Prefs.InUse(p.Conditions(time.Now())) }
		inUse() // the loop sets the rules for the judgment
		go p.Sense(t.Context())
		posted := func(d time.Duration) int {
			time.Sleep(d)
			synctest.Wait()
			n := len(c.Events())
			for range n {
				<-c.Events()
			}
			return n
		}
		if n := posted(62 * time.Second); n != 1 || !inUse() {
			t.Errorf("at first: %d looks of the loop, in use: %v", n, inUse())
		}
		if n := posted(2 * time.Second); n != 0 || inUse() {
			t.Errorf("after a minute: %d looks, in use: %v", n, inUse())
		}
		now := time.Now()
		sensors.input.Store(&now)
		if n := posted(10 * time.Second); n != 1 || !inUse() {
			t.Errorf("after the return: %d looks, in use: %v", n, inUse())
		}
	})
}
