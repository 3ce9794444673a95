package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// account makes an account with credit.
func (w *world) account(n int, credit float64) (key protocol.Authenticator) {
	w.t.Helper()
	key = protocol.Authenticator(fmt.Sprintf("%032x", 0xacc0000+n))
	w.update(func(tx *store.Tx) error {
		id, err := tx.InsertUser(store.User{
			CreateTime: w.now, EmailAddr: fmt.Sprintf("u%d@example.org", n), Name: "U", Authenticator: key, CrossProjectID: fmt.Sprint(n),
		})
		if err != nil || credit == 0 {
			return err
		}
		return tx.AddUserCredit(id, credit, credit, w.now)
	})
	return key
}

// poor asks for work with a host of an account that has 1 GB of memory.
func (w *world) poor(key protocol.Authenticator, host string) {
	w.t.Helper()
	w.ask(func(r *protocol.SchedulerRequest) {
		r.Authenticator, r.CPUReqSeconds, r.Host.MemBytes = key, 1, 1e9
		r.Host.DomainName, r.Host.HostCPID = host, host
	})
}

// A result that the computers of enough accounts cannot compute is given up. Requests, computers
// and new accounts do not count, because anyone can make them up.
func TestCouldntSend(t *testing.T) {
	w := newWorld(t)
	w.addWork("huge", 1, func(wu *store.Workunit) { wu.RscMemoryBound = 1e15 })
	w.s.Config.MaxInfeasible = 3
	one, two, three := w.account(1, 5), w.account(2, 5), w.account(3, 5)
	for i := range 100 {
		w.poor(one, fmt.Sprint("host", i))
	}
	for i := range 20 {
		w.poor(w.account(100+i, 0), "new")
	}
	w.poor(two, "b")
	w.now = w.now.Add(8 * 24 * time.Hour)
	w.poor(one, "host1")
	w.poor(three, "c") // it is eight days since the other one asked
	if r := w.result("huge_0"); r.ServerState != store.Unsent {
		t.Fatalf("given up after two accounts: %+v", r)
	}
	w.poor(two, "b")
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
			r.Authenticator = w.account(i, 5)
			r.CPUReqSeconds, r.Host.MemBytes, r.EstimatedDelay = 1, 1e9, 1e6*1e9*3600
			r.Host.DomainName = fmt.Sprint(i)
			r.Host.HostCPID = fmt.Sprint(i)
		})
	}
	if r := w.result("long_0"); r.ServerState != store.Unsent {
		t.Errorf("%v, %v", r.ServerState, r.Outcome)
	}
}

// The hardware that a computer offers is on record.
func TestHostOffersAreOnRecord(t *testing.T) {
	w := newWorld(t)
	got := func(change func(r *protocol.SchedulerRequest)) (all []store.ActiveHost) {
		w.ask(change)
		if err := w.store.View(t.Context(), func(tx *store.View) error {
			return tx.ActiveHosts(w.now, func(h store.ActiveHost) { all = append(all, h) })
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	all := got(func(r *protocol.SchedulerRequest) {
		r.AltPlatforms = []string{"i686-pc-linux-gnu", "no platform", ""}
		r.Host.MemBytes, r.Host.DiskFree = 4<<30, 9<<30
		r.WorkingPrefs = "<ram_max_used_busy_pct>50</ram_max_used_busy_pct><ram_max_used_idle_pct>75</ram_max_used_idle_pct><disk_max_used_gb>2</disk_max_used_gb>"
	})
	want := store.ActiveHost{
		Platforms: "x86_64-pc-linux-gnu i686-pc-linux-gnu", MemBytes: 4 << 30, UsableMemory: 3 << 30, UsableDisk: 2 << 30, Fpops: 1e9,
	}
	if len(all) != 1 || all[0] != want {
		t.Errorf("got %+v, want %+v", all, want)
	}
}
