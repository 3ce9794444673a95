package usage

import (
	"maps"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
)

// saveEvery is how often debts and times are made durable; a kill costs so much of them.
const saveEvery = time.Minute

// A Ledger is what each project is owed, kept in memory between savings.
type Ledger struct {
	*core.Core

	Of   map[string]float64                   // by project, in seconds of a CPU, as of the last pass
	Used map[string]map[resource.Kind]float64 // what each got since of each kind of processor, likewise

	accounted time.Time // Used is complete up to then
	settled   time.Time // the last pass
	saved     time.Time
}

// A Run is a process that computes.
type Run struct {
	Project string
	Kind    resource.Kind // of processor
	Speed   float64       // CPU-seconds that a second of it counts for
	Since   time.Time     // it started or was resumed
}

// Open reads what was owed when the agent last ran. Time in which it did not run
// counts for nobody.
func (g *Ledger) Open(now time.Time) {
	g.Of, g.Used = make(map[string]float64), make(map[string]map[resource.Kind]float64)
	g.accounted, g.settled, g.saved = now, now, now
	for u, p := range g.DB.Projects.All() {
		g.Of[u] = p.Debt
	}
}

// Account notes what has run since it last did.
func (g *Ledger) Account(now time.Time, runs []Run) {
	interval := now.Sub(g.accounted)
	for _, r := range runs {
		ran := max(0, min(interval, now.Sub(r.Since)))
		if g.Used[r.Project] == nil {
			g.Used[r.Project] = make(map[resource.Kind]float64)
		}
		g.Used[r.Project][r.Kind] += ran.Seconds() * r.Speed
	}
	g.accounted = now
}

// Elapsed is how long ago the last pass was, by a clock that does not jump.
func (g *Ledger) Elapsed(now time.Time) time.Duration { return now.Sub(g.settled) }

// Settle takes over what a pass made of the debts.
func (g *Ledger) Settle(now time.Time, debts map[string]float64) {
	maps.Copy(g.Of, debts)
	g.settled = now
	clear(g.Used)
}

// Keep makes debts durable now and then.
func (g *Ledger) Keep(now time.Time) {
	if now.Sub(g.saved).Abs() >= max(saveEvery, g.Tick) && g.Save(g.Put) {
		g.saved = now
	}
}

// Put makes the debts part of a change.
func (g *Ledger) Put(tx *state.Tx) {
	for u, p := range g.DB.Projects.All() {
		if d := g.Of[u]; d != p.Debt {
			p.Debt = d
			g.DB.Projects.Put(tx, u, p)
		}
	}
}
