package agent

import (
	"time"

	"github.com/starling-grid/starling/debt"
	"github.com/starling-grid/starling/state"
)

// saveDebts is how often debts are made durable; a kill costs so much of them.
const saveDebts = time.Minute

// A ledger is what each project is owed, kept in memory between savings.
type ledger struct {
	of      map[string]float64 // by project, CPU-seconds
	settled time.Time
	saved   time.Time
}

// settle brings the debts up to date with what has run since they last were.
func (a *Agent) settle(now time.Time) {
	if a.debts.of == nil {
		a.debts = ledger{of: make(map[string]float64), settled: now, saved: now}
		for u, p := range a.db.Projects.All() {
			a.debts.of[u] = p.Debt
		}
	}
	interval := now.Sub(a.debts.settled)
	used := make(map[string]float64)
	for _, run := range a.running {
		if r, ok := a.db.Results.Get(run.key); ok {
			v, _ := a.db.Versions.Get(r.Version)
			used[r.Project] += min(interval, now.Sub(run.since)).Seconds() * max(v.AvgNCPUs, 1)
		}
	}
	var urls []string
	var ps []debt.Project
	for u := range a.db.Projects.All() {
		acc := a.accounts[u]
		urls = append(urls, u)
		ps = append(ps, debt.Project{
			Debt: a.debts.of[u], Share: acc.ResourceShare, Used: max(0, used[u]),
			Counts: !a.leaving[u] && !acc.NoMoreWork && acc.ResourceShare > 0,
		})
	}
	clear(a.debts.of)
	for i, d := range debt.Settle(ps, interval, a.cpus()) {
		a.debts.of[urls[i]] = d
	}
	a.debts.settled = now
	if now.Sub(a.debts.saved).Abs() >= saveDebts && a.save(a.putDebts) {
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
