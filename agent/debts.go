package agent

import (
	"time"

	"github.com/starling-grid/starling/state"
)

// saveDebts is how often debts are made durable; a kill costs so much of them.
const saveDebts = time.Minute

// A ledger is what each project is owed, kept in memory between savings.
type ledger struct {
	of        map[string]float64 // by project, CPU-seconds, as of the last pass
	used      map[string]float64 // CPU-seconds that each got since
	accounted time.Time          // used is complete up to then
	settled   time.Time          // the last pass
	saved     time.Time
}

// openLedger reads what was owed when the agent last ran. Time in which it did
// not run counts for nobody.
func (a *Agent) openLedger(now time.Time) {
	a.debts = ledger{of: make(map[string]float64), used: make(map[string]float64), accounted: now, settled: now, saved: now}
	for u, p := range a.db.Projects.All() {
		a.debts.of[u] = p.Debt
	}
}

// account notes what has run since it last did.
func (a *Agent) account(now time.Time) {
	interval := now.Sub(a.debts.accounted)
	for _, run := range a.running {
		if run.paused {
			continue
		}
		if r, ok := a.db.Results.Get(run.key); ok {
			v, _ := a.db.Versions.Get(r.Version)
			ran := max(0, min(interval, now.Sub(run.since)))
			a.debts.used[r.Project] += ran.Seconds() * max(v.AvgNCPUs, 1)
		}
	}
	a.debts.accounted = now
}

// keepDebts makes debts durable now and then.
func (a *Agent) keepDebts(now time.Time) {
	if now.Sub(a.debts.saved).Abs() >= max(saveDebts, a.cfg.tick()) && a.save(a.putDebts) {
		a.debts.saved = now
	}
}

// putDebts makes the debts part of a change.
func (a *Agent) putDebts(tx *state.Tx) {
	for u, p := range a.db.Projects.All() {
		if d := a.debts.of[u]; d != p.Debt {
			p.Debt = d
			a.db.Projects.Put(tx, u, p)
		}
	}
}
