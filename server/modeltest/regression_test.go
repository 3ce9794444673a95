package modeltest

import (
	"errors"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/transitioner"
)

// quiet returns a world in which nothing happens by chance.
func quiet(t *testing.T) *world {
	t.Helper()
	w := emptyWorld(t, 1)
	t.Cleanup(func() { w.close() })
	w.plain, w.apps = true, []*app{{name: "a", platforms: machines[0].platforms}}
	w.boot()
	w.populate()
	w.drain, w.hosts = true, nil
	w.sched.Config.MaxWusToSend, w.sched.Config.MaxWusInProgress, w.sched.Config.DailyResultQuota = 0, 0, 0
	w.sched.Config.MinSendworkInterval, w.sched.Config.Urgent, w.sched.Config.MaxInfeasible = 0, match.Urgent{}, 0
	return w
}

// work makes a workunit that wants n results, m of which must agree.
func (w *world) work(m, n int) string {
	w.insert(spec{app: w.apps[0], m: m, n: n, c: n + 2, b: n + 6, a: 5, delay: time.Hour, need: need{fpops: 1e12, memory: 1e6, disk: 1e6}})
	w.daemon(transition)
	return w.names[len(w.names)-1]
}

func (w *world) workunit(name string) store.Workunit {
	return storetest.Get(w.t, w.st, (*store.View).WorkunitByName, name)
}

// fetch gives a new host of a new user work.
func (w *world) fetch(m manner) *host {
	w.t.Helper()
	h := w.addHost(w.addUser(), m)
	w.rpc(h, 1)
	if len(h.have) != 1 {
		w.t.Fatalf("host has %d results, want 1", len(h.have))
	}
	return h
}

// In BOINC a transitioner that was in the middle of a workunit overwrote the
// transition time that another daemon set meanwhile, and the workunit waited for
// days (PR 3603). Here a report comes while results are described.
func TestTransitionTimeSetMeanwhileIsKept(t *testing.T) {
	w := quiet(t)
	wu := w.work(2, 2)
	a, b := w.fetch(manner{fails: 1}), w.fetch(manner{})
	w.compute(a)
	w.rpc(a, 0)
	w.compute(b)
	tr := &transitioner.Transitioner{Store: w.st, Log: w.sched.Log, Describe: func(row store.Workunit, result string, n int64) (string, error) {
		w.rpc(b, 0)
		return w.describe(0)(row, result, n)
	}}
	if _, err := tr.Pass(t.Context(), w.now); err != nil {
		t.Fatal(err)
	}
	if at := w.workunit(wu).TransitionTime; at.After(w.now) {
		t.Errorf("the transitioner comes back at %v, want at once", at)
	}
}

// In BOINC a validation that came late set the assimilate state back, so that a
// workunit was assimilated twice (issue 5706).
func TestALateValidationDoesNotAssimilateAgain(t *testing.T) {
	w := quiet(t)
	wu := w.work(1, 2)
	a, b := w.fetch(manner{}), w.fetch(manner{})
	settle := func() {
		for range 3 {
			for d := range daemons {
				w.daemon(d)
			}
		}
	}
	w.compute(a)
	w.rpc(a, 0)
	settle()
	if k := w.wus[wu]; k.calls != 1 {
		// Assimilation does not wait for other results once there is a canonical result.
		t.Fatalf("assimilated %d times, want 1", k.calls)
	}
	w.compute(b)
	w.rpc(b, 0)
	settle()
	if k := w.wus[wu]; k.calls != 1 || w.workunit(wu).AssimilateState != store.AssimilateDone {
		t.Errorf("assimilated %d times, want 1", k.calls)
	}
}

// A host that only returns errors is cut down to a trickle within a handful of
// results (BOINC issue 3061).
func TestAHostThatOnlyFailsIsCutDown(t *testing.T) {
	w := quiet(t)
	w.sched.Config.DailyResultQuota = 8
	for range 40 {
		w.work(1, 1)
	}
	h := w.addHost(w.addUser(), manner{fails: 1})
	perDay := func() (n int) {
		for range 60 {
			w.now = w.now.Add(time.Minute)
			w.rpc(h, 1)
			for range h.have {
				w.compute(h)
				n++
			}
			w.daemon(transition)
		}
		return n
	}
	first := perDay()
	w.now = w.now.Add(24 * time.Hour)
	if second := perDay(); first > 16 || second > 2 {
		t.Errorf("it got %d results on the first day and %d on the second, want at most 16 and 2, one a CPU", first, second)
	}
}

// An operator may cancel a workunit while it waits for its validator.
func TestACancelledWorkunitHasNoCanonicalResult(t *testing.T) {
	w := quiet(t)
	wu := w.work(1, 1)
	h := w.fetch(manner{})
	w.compute(h)
	w.rpc(h, 0)
	w.daemon(transition)
	w.update(func(tx *store.Tx) error {
		done, err := transitioner.Cancel(tx, w.wus[wu].id, w.now)
		if err == nil && !done {
			err = errors.New("nothing was cancelled")
		}
		return err
	})
	w.daemon(validation)
	if row := w.workunit(wu); row.CanonicalResultID != 0 || row.ErrorMask != store.ErrorCancelled {
		t.Errorf("canonical result %d, error mask %d", row.CanonicalResultID, row.ErrorMask)
	}
	w.rest()
}

// A report for another user's result is acknowledged and ignored.
func TestAReportOfSomebodyElsesResultIsIgnored(t *testing.T) {
	w := quiet(t)
	w.work(1, 1)
	h := w.fetch(manner{})
	thief := w.addHost(w.addUser(), manner{})
	w.rpc(thief, 0)
	name := h.have[0].name
	thief.have = []*task{{name: name, ready: &protocol.ReportedResult{Name: name, State: protocol.ClientUploaded}}}
	w.rpc(thief, 0)
	if r := storetest.Get(w.t, w.st, (*store.View).ResultByName, name); r.ServerState != store.InProgress || r.UserID != h.user.id {
		t.Errorf("it is %v and of user %d", r.ServerState, r.UserID)
	}
}

// Work for one computer that was on its last chance was never sent there if the results of that
// computer kept failing. As no other computer may have it, it waited forever. Found by TestModel,
// seed 20.
func TestTheLastChanceOfWorkForABadComputerIsSent(t *testing.T) {
	w := quiet(t)
	h := w.addHost(w.addUser(), manner{fails: 1})
	for range 4 {
		w.work(1, 1)
		w.rpc(h, 0.01)
		for range h.have {
			w.compute(h)
		}
		w.rpc(h, 0)
	}
	w.insert(spec{
		app: w.apps[0], m: 1, n: 1, c: 1, b: 1, a: 1, delay: time.Hour, need: need{fpops: 1e12, memory: 1e6, disk: 1e6},
		target: store.Target{Type: store.TargetHost, ID: h.id},
	})
	w.daemon(transition)
	w.rpc(h, 0.01)
	if len(h.have) != 1 || h.have[0].wu != w.names[len(w.names)-1] {
		t.Errorf("the host has %d results, want that which is for it", len(h.have))
	}
}
