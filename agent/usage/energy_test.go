package usage_test

import (
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/debt"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// A counter is a meter that a test sets.
type counter struct {
	joules, busy float64
	ok           bool
}

func (c *counter) Read() (joules, busy float64, ok bool) { return c.joules, c.busy, c.ok }

func TestEnergyOfTasks(t *testing.T) {
	db := statetest.Open(t, t.TempDir())
	a, b := state.Key("p", "a"), state.Key("p", "b")
	statetest.Update(t, db, func(tx *state.Tx) {
		for _, key := range []string{a, b} {
			db.Results.Put(tx, key, state.Result{Project: "p"})
		}
	})
	m := &counter{ok: true}
	carbon, known := 0.0, false
	c := &core.Core{DB: db, Log: slog.New(slog.DiscardHandler), Host: protocol.HostInfo{NCPUs: 4}}
	g := usage.Ledger{Core: c, Energy: &usage.Energy{
		Core: c, Meter: m, Gauge: new(usage.Gauge),
		Carbon: func(time.Time) (float64, bool) { return carbon, known },
	}}
	now := time.Unix(1_800_000_000, 0)
	g.Open(now)
	runs := []usage.Run{
		{Key: a, Project: "p", CPUs: 1, Since: now, Bill: new(debt.Bill)},
		{Key: b, Project: "p", CPUs: 1, Since: now, Bill: new(debt.Bill)},
	}
	// pass has time pass in which a and b use CPUs, and all programs together busy, with a power.
	pass := func(d time.Duration, cpusA, cpusB, busy, watts float64) {
		now = now.Add(d)
		m.joules, m.busy = m.joules+watts*d.Seconds(), m.busy+busy*d.Seconds()
		runs[0].Used += time.Duration(cpusA * float64(d))
		runs[1].Used += time.Duration(cpusB * float64(d))
		g.Account(now, runs)
	}
	want := func(what, key string, want state.Energy) {
		t.Helper()
		got := g.Energy.Drawn(key)
		for _, x := range [][2]float64{{got.Joules, want.Joules}, {got.CO2, want.CO2}, {got.CO2Of, want.CO2Of}} {
			if math.Abs(x[0]-x[1]) > 1e-6 {
				t.Errorf("%s: got %+v, want %+v", what, got, want)
				break
			}
		}
	}
	pass(0, 0, 0, 0, 0)
	pass(10*time.Second, 1, 0.5, 3, 60)
	want("within a period", a, state.Energy{})
	pass(20*time.Second, 1, 0.5, 3, 60) // 1800 J for 90 s of CPU time, of which half is of other programs
	want("a third of the CPU time", a, state.Energy{Joules: 600})
	want("a sixth of it", b, state.Energy{Joules: 300})
	carbon, known = 360, true // 1 g for 10 kJ
	pass(time.Minute, 2, 0, 1, 50)
	want("more than the system counted", a, state.Energy{Joules: 3600, CO2: 0.3, CO2Of: 3000})
	known = false
	m.ok = false
	pass(time.Minute, 1, 1, 2, 50)
	m.ok = true
	pass(time.Minute, 1, 1, 2, 50)
	want("while the counter could not be read, and until it was read twice", b, state.Energy{Joules: 300})
	pass(10*time.Minute, 1, 1, 2, 50)
	want("after a sleep", b, state.Energy{Joules: 300})
	pass(30*time.Second, 1, 1, 4, 100)
	want("later", b, state.Energy{Joules: 1050})

	if got := g.Energy.Take(now, b, false).Joules; math.Abs(got-1050) > 1e-6 {
		t.Errorf("taken: %v J", got)
	}
	want("what was taken", b, state.Energy{})
	pass(10*time.Second, 0, 1, 1, 40)
	if got := g.Energy.Take(now, b, true).Joules; math.Abs(got-400) > 1e-6 {
		t.Errorf("at the end of a task, within a period: %v J", got)
	}
	pass(time.Second/2, 0, 2, 2, 40)
	if got := g.Energy.Take(now, b, true).Joules; math.Abs(got-40) > 1e-6 {
		t.Errorf("at the end of a short task: %v J", got)
	}

	m.ok, c.Settings.WattsPerCPU = false, 7
	pass(time.Minute, 0, 0.5, 0, 0)
	want("by the stated power", b, state.Energy{Joules: 210})
	statetest.Update(t, db, func(tx *state.Tx) { db.Results.Delete(tx, b) })
	pass(time.Minute, 0, 0, 0, 0)
	want("of a task that is gone", b, state.Energy{})

	c.Settings.WattsPerGPU = 200
	runs = []usage.Run{runs[0], {Key: a, Project: "p", Kind: "NVIDIA", On: []int{0, 1}, Part: 0.5, Since: now, Bill: new(debt.Bill)}}
	before := g.Energy.Take(now, a, true)
	pass(30*time.Second, 0, 0, 0, 0)
	want("half of two GPUs", a, state.Energy{Joules: 6000})
	if before.Joules < 3600 {
		t.Errorf("a: %+v", before)
	}
	// Without a measurement and without a statement, nothing is invented.
	c.Settings.WattsPerCPU, c.Settings.WattsPerGPU = 0, 0
	g.Energy.Take(now, a, true)
	pass(time.Minute, 1, 1, 2, 50)
	want("unknown", a, state.Energy{})
}
