package usage

import (
	"maps"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/debt"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
)

// saveEvery is the interval at which debts and times are saved. A kill costs as much of them.
const saveEvery = time.Minute

// A Ledger has the debt to each project, kept in memory between savings.
type Ledger struct {
	*core.Core

	Of   map[string]float64                   // by project, in seconds of a CPU, as of the last pass
	Used map[string]map[resource.Kind]float64 // what each got since of each kind of processor, likewise
	// Energy has the energy of tasks, or is nil.
	Energy *Energy

	light     map[string]resource.Light // of projects that have tasks which claim to need little CPU time
	accounted time.Time                 // Used is complete up to then
	settled   time.Time                 // the last pass
	saved     time.Time
}

// A Run is a process that computes.
type Run struct {
	Key     string // of its result
	Project string
	CPUs    float64       // that it claims
	Kind    resource.Kind // of coprocessor that it computes on ("" if none)
	Speed   float64       // CPU-seconds that a second on that counts for
	On      []int         // numbers of the coprocessors that it computes on
	Part    float64       // of each of these
	Light   bool          // it claims to need little CPU time
	Since   time.Time     // it started or was resumed
	Used    time.Duration // CPU time that it has used since it started (0: not measured)
	Bill    *debt.Bill    // of this process
}

// Open reads the debts from the last run of the agent. Time during which it did not run is not
// counted for any project.
func (g *Ledger) Open(now time.Time) {
	g.Of, g.Used, g.light = make(map[string]float64), make(map[string]map[resource.Kind]float64), make(map[string]resource.Light)
	g.accounted, g.settled, g.saved = now, now, now
	for u, p := range g.DB.Projects.All() {
		g.Of[u], g.light[u] = p.Debt, p.Light
	}
}

// Account counts the processes that have run since the last call. It reports whether the trust in a
// project's claim that its tasks need little CPU time has changed. That change is then saved.
func (g *Ledger) Account(now time.Time, runs []Run) (changed bool) {
	interval := now.Sub(g.accounted)
	for _, r := range runs {
		ran := max(0, min(interval, now.Sub(r.Since)))
		used := g.Used[r.Project]
		if used == nil {
			used = make(map[resource.Kind]float64)
			g.Used[r.Project] = used
		}
		c := r.Bill.Add(r.CPUs, ran, r.Used, g.Host.NCPUs)
		if g.Energy != nil {
			g.Energy.note(now, r, ran, c.Used)
		}
		switch {
		case r.Kind == "":
			used[resource.CPU] += c.Claimed + c.Beyond
		case c.Beyond > 0: // the CPUs that it claims are there to feed the coprocessors
			used[resource.CPU] += c.Beyond
			fallthrough
		default:
			used[r.Kind] += ran.Seconds() * r.Speed
		}
		if r.Light {
			before := g.light[r.Project]
			g.light[r.Project] = before.Ran(ran, c.Used)
			changed = changed || g.light[r.Project].Overused != before.Overused
		}
	}
	g.accounted = now
	if g.Energy != nil {
		g.Energy.count(now, len(runs) > 0)
	}
	return changed && g.Save(g.Put)
}

// Elapsed returns the time since the last pass, by a clock that does not jump.
func (g *Ledger) Elapsed(now time.Time) time.Duration { return now.Sub(g.settled) }

// Settle adopts the debts from a pass.
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
		if d, l := g.Of[u], g.light[u]; d != p.Debt || l != p.Light {
			p.Debt, p.Light = d, l
			g.DB.Projects.Put(tx, u, p)
		}
	}
}
