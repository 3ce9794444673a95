package scheduler

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/unsendable"
)

// maxInfeasible is the maximum number of results for which refusals are counted.
const maxInfeasible = 10_000

// infeasible counts the accounts with a host that could not be sent a result because of its
// properties: too little memory, disk or bandwidth. A host without a version of the application
// does not count, since others may have one. Neither does a host that has enough to do, or has a
// result of the workunit, since these reasons are temporary.
//
// Requests and hosts can be made up at no cost. Therefore an account counts once per result,
// whatever its hosts, only if it has been granted credit, and only if a host of it was refused
// within unsendable.Window. Even so the limit is off unless the project sets it.
//
// The counts are in memory. Counts are lost at a restart, or when too many results are counted.
// That only delays the end of a result that no host can compute. A column written at every refusal
// would do more harm.
type infeasible struct {
	mu       sync.Mutex
	accounts map[int64]map[int64]time.Time // when each was refused last, by result
}

// refused records that a host of an account cannot be sent a result, and returns the number of such
// accounts.
func (x *infeasible) refused(result, account int64, now time.Time) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.accounts == nil || len(x.accounts) >= maxInfeasible && x.accounts[result] == nil {
		x.accounts = make(map[int64]map[int64]time.Time)
	}
	if x.accounts[result] == nil {
		x.accounts[result] = make(map[int64]time.Time)
	}
	x.accounts[result][account] = now
	maps.DeleteFunc(x.accounts[result], func(_ int64, at time.Time) bool { return now.Sub(at) > unsendable.Window })
	return len(x.accounts[result])
}

// forget ends the count of a result.
func (x *infeasible) forget(result int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.accounts, result)
}

// infeasible notes that this host cannot compute a candidate, and ends a result
// that cannot be sent to anyone.
func (r *rpc) infeasible(c store.Candidate) error {
	most := r.s.Config.MaxInfeasible
	if most <= 0 || r.user.TotalCredit <= 0 || r.s.infeasible.refused(c.ID, r.user.ID, r.now) < most {
		return nil
	}
	if r.tx == nil {
		return errApart
	}
	old, err := r.tx.Result(c.ID)
	if err != nil {
		return err
	}
	if old.ServerState == store.Unsent {
		x := old
		x.ServerState, x.Outcome = store.Over, store.CouldntSend
		r.move(fmt.Sprintf("the computers of %d accounts cannot run it", most), []store.ResultChange{{Old: old, Now: x}})
		r.s.Log.Warn("result cannot be sent to anyone", "result", x.Name, "accounts", most)
	}
	r.s.infeasible.forget(c.ID)
	return nil
}
