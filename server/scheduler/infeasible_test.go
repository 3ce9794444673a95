package scheduler_test

import (
	"fmt"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// A result that enough hosts cannot compute is given up; the same host asking
// again and again is one host.
func TestCouldntSend(t *testing.T) {
	w := newWorld(t)
	w.addWork("huge", 1, func(wu *store.Workunit) { wu.RscMemoryBound = 1e15 })
	w.s.Config.MaxInfeasible = 3
	ask := func(host string) {
		w.ask(func(r *protocol.SchedulerRequest) {
			r.CPUReqSeconds, r.Host.MemBytes = 1, 1e9
			r.Host.DomainName, r.Host.HostCPID = host, host
		})
	}
	for range 9 {
		ask("a")
	}
	ask("b")
	if r := w.result("huge_0"); r.ServerState != store.Unsent {
		t.Fatalf("given up after two hosts: %+v", r)
	}
	ask("c")
	if r := w.result("huge_0"); r.ServerState != store.Over || r.Outcome != store.CouldntSend {
		t.Errorf("%v, %v", r.ServerState, r.Outcome)
	}
}

// Without a limit, and for reasons that pass, nothing is given up.
func TestNotEveryRefusalCounts(t *testing.T) {
	w := newWorld(t)
	w.addWork("huge", 1, func(wu *store.Workunit) { wu.RscMemoryBound = 1e15 })
	w.addWork("long", 1, func(wu *store.Workunit) { wu.RscFpopsEst = 1e11 })
	for i := range 5 {
		w.s.Config.MaxInfeasible = min(1, i%2)
		if i%2 == 1 {
			w.update(func(tx *store.Tx) error { // only the long one is left
				old, err := tx.ResultByName("huge_0")
				if err != nil || old.ServerState == store.Over {
					return err
				}
				r := old
				r.ServerState, r.Outcome = store.Over, store.DidntNeed
				return tx.SaveResult(old, r)
			})
		}
		w.ask(func(r *protocol.SchedulerRequest) {
			r.CPUReqSeconds, r.Host.MemBytes, r.EstimatedDelay = 1, 1e9, 1e6*1e9*3600
			r.Host.DomainName = fmt.Sprint(i)
			r.Host.HostCPID = fmt.Sprint(i)
		})
	}
	if r := w.result("long_0"); r.ServerState != store.Unsent {
		t.Errorf("%v, %v", r.ServerState, r.Outcome)
	}
}
