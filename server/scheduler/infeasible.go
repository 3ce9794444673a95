package scheduler

import (
	"errors"
	"fmt"
	"sync"

	"github.com/starling-grid/starling/server/store"
)

// maxInfeasible bounds for how many results refusals are counted.
const maxInfeasible = 10_000

// infeasible counts the hosts that could not be sent a result for what they are:
// too little memory, disk or bandwidth. A host without a version of the application
// does not count, since others may have one. Neither does a host that has enough to
// do, or has a result of the workunit, since this passes.
//
// The limit is off unless the project sets it: hosts cost nothing to make up, so
// anyone with an account can reach any limit.
//
// The counts are in memory. Other than BOINC's old count of refusals in shared
// memory, a host counts once a result, so that one host that asks every minute
// does not end it. What is lost at a restart, or when too many results are
// counted, delays the end of a result that nobody can compute and does no other
// harm, which a column written at every refusal would.
type infeasible struct {
	mu    sync.Mutex
	hosts map[int64]map[int64]struct{} // by result
}

// refused counts that a host cannot be sent a result, and returns how many
// cannot.
func (x *infeasible) refused(result, host int64) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.hosts == nil || len(x.hosts) >= maxInfeasible && x.hosts[result] == nil {
		x.hosts = make(map[int64]map[int64]struct{})
	}
	if x.hosts[result] == nil {
		x.hosts[result] = make(map[int64]struct{})
	}
	x.hosts[result][host] = struct{}{}
	return len(x.hosts[result])
}

// forget ends the count of a result.
func (x *infeasible) forget(result int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.hosts, result)
}

// infeasible notes that this host cannot compute a candidate, and ends a result
// that cannot be sent to anyone.
func (r *rpc) infeasible(c store.Candidate) error {
	most := r.s.Config.MaxInfeasible
	if most <= 0 || r.s.infeasible.refused(c.ID, r.host.ID) < most {
		return nil
	}
	old, err := r.tx.Result(c.ID)
	if err != nil {
		return err
	}
	if old.ServerState == store.Unsent {
		x := old
		x.ServerState, x.Outcome = store.Over, store.CouldntSend
		r.because(fmt.Sprintf("%d hosts cannot compute it", most))
		if err := r.tx.SaveResult(old, x); errors.Is(err, store.ErrLost) {
			return nil
		} else if err != nil {
			return err
		}
		r.s.Log.Warn("result cannot be sent to anyone", "result", x.Name, "hosts", most)
		if err := r.tx.TransitionBy(x.WorkunitID, r.now); err != nil {
			return err
		}
	}
	r.s.infeasible.forget(c.ID)
	return nil
}
