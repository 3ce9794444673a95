package scheduler_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// choosy makes the world's application another one, with change applied.
func (w *world) choosy(change func(a *store.App)) {
	w.t.Helper()
	a := w.App
	a.Name = "choosy"
	change(&a)
	w.update(func(tx *store.Tx) (err error) {
		w.App = a
		w.App.ID, err = tx.InsertApp(a)
		return err
	})
	w.addVersion("x86_64-pc-linux-gnu", 100, false)
}

// from asks for work from a separate computer.
func (w *world) from(name, os, vendor, model string) *protocol.SchedulerReply {
	w.t.Helper()
	return w.ask(func(r *protocol.SchedulerRequest) {
		r.CPUReqSeconds = 1
		r.Host.DomainName, r.Host.HostCPID = name, name
		r.Host.OSName, r.Host.Vendor, r.Host.Model = os, vendor, model
	})
}

func (w *world) workunit(name string) store.Workunit {
	w.t.Helper()
	return storetest.Get(w.t, w.store, (*store.View).WorkunitByName, name)
}

func TestHomogeneousRedundancy(t *testing.T) {
	w := newWorld(t)
	w.choosy(func(a *store.App) { a.HomogeneousRedundancy = 2 })
	w.addWork("a", 3)
	for _, tt := range []struct {
		name, os, vendor string
		sent             int
	}{
		{"unknown", "Linux", "?", 0},
		{"first", "Linux", "GenuineIntel", 1},
		{"other system", "Microsoft Windows", "GenuineIntel", 0},
		{"alike", "Linux", "AuthenticAMD", 1},
	} {
		got := w.from(tt.name, tt.os, tt.vendor, "x")
		if len(got.Results) != tt.sent {
			t.Errorf("%s: %d results, want %d: %s", tt.name, len(got.Results), tt.sent, texts(got))
		}
		if tt.sent == 0 && texts(got) != "low: No tasks sent\nlow: The remaining tasks are committed to computers of another kind" {
			t.Errorf("%s: %s", tt.name, texts(got))
		}
	}
	if wu := w.workunit("a"); wu.HRClass != 257 {
		t.Errorf("class %d", wu.HRClass)
	}
}

func TestHomogeneousAppVersion(t *testing.T) {
	w := newWorld(t)
	w.choosy(func(a *store.App) { a.HomogeneousAppVersion = true })
	w.addWork("a", 3)
	version := func(host string) int {
		got := w.from(host, "Linux", "GenuineIntel", "x")
		if len(got.Results) != 1 {
			t.Fatalf("%s: %d results: %s", host, len(got.Results), texts(got))
		}
		return got.Results[0].VersionNum
	}
	if got := version("a"); got != 100 {
		t.Errorf("version %d", got)
	}
	w.addVersion("x86_64-pc-linux-gnu", 101, false)
	w.addWork("b", 1)
	if got := version("b"); got != 100 {
		t.Errorf("a newer version makes no difference to work begun: %d, want 100", got)
	}
	if got := w.ask(func(r *protocol.SchedulerRequest) {
		r.CPUReqSeconds, r.Platform = 1, "windows_x86_64"
	}); len(got.Results) != 0 {
		t.Errorf("another platform got %v", got.Results)
	}
	version("c")
	if got := version("d"); got != 101 {
		t.Errorf("new work: version %d, want 101", got)
	}
}

func TestAdaptiveReplication(t *testing.T) {
	w := newWorld(t)
	w.s.Rand = rand.New(rand.NewPCG(1, 2))
	w.choosy(func(a *store.App) { a.TargetNResults = 2 })
	w.addWork("new", 1)
	w.addWork("fixed", 1, func(wu *store.Workunit) { wu.MinQuorum, wu.TargetNResults = 3, 3 })
	send := func(n int) {
		t.Helper()
		got := w.ask(func(r *protocol.SchedulerRequest) { r.CPUReqSeconds = 1e6 })
		if len(got.Results) != n {
			t.Fatalf("%d results, want %d: %s", len(got.Results), n, texts(got))
		}
	}
	w.s.Config.ResendLostResults = false
	send(2)
	if wu := w.workunit("new"); wu.TargetNResults != 2 || wu.MinQuorum != 2 || !wu.TransitionTime.Equal(w.now) {
		t.Errorf("to a host that is not trusted: %+v", wu)
	}
	if wu := w.workunit("fixed"); wu.TargetNResults != 3 || wu.MinQuorum != 3 {
		t.Errorf("a workunit with a quorum of its own: %+v", wu)
	}
	r := w.result("new_0")
	w.update(func(tx *store.Tx) error {
		return tx.SaveHostAppVersion(store.HostAppVersion{HostID: r.HostID, AppVersionID: r.AppVersionID, ConsecutiveValid: 20})
	})
	const n = 200
	for i := range n {
		w.addWork(fmt.Sprint("t", i), 1)
	}
	send(n)
	alone := 0
	for i := range n {
		if w.workunit(fmt.Sprint("t", i)).TargetNResults == 1 {
			alone++
		}
	}
	// 1 − 1/20 of them, give or take the randomness of this seed.
	if alone < n*90/100 || alone == n {
		t.Errorf("%d of %d went to the trusted host alone", alone, n)
	}
}

// A workunit that was started with a version that was withdrawn continues with another version.
func TestAVersionThatIsWithdrawnBindsNobody(t *testing.T) {
	w := newWorld(t)
	w.choosy(func(a *store.App) { a.HomogeneousAppVersion = true })
	w.addWork("a", 2)
	w.from("a", "Linux", "GenuineIntel", "x")
	old := w.workunit("a").AppVersionID
	w.addVersion("x86_64-pc-linux-gnu", 101, false)
	w.update(func(tx *store.Tx) error { return tx.DeprecateVersion(old) })
	got := w.from("b", "Linux", "GenuineIntel", "x")
	if len(got.Results) != 1 || got.Results[0].VersionNum != 101 || w.workunit("a").AppVersionID == old {
		t.Errorf("got %v: %s", got.Results, texts(got))
	}
}
