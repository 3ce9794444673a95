package usage_test

import (
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/debt"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
)

// The CPU time that tasks use is charged, no matter what their projects claim. A project whose
// tasks need more CPU time than it claims is remembered.
func TestWhatIsMeasuredIsCharged(t *testing.T) {
	db := statetest.Open(t, t.TempDir())
	const light, greedy, gpu = "https://light.example/", "https://greedy.example/", "https://gpu.example/"
	statetest.Update(t, db, func(tx *state.Tx) {
		for _, u := range []string{light, greedy, gpu} {
			db.Projects.Put(tx, u, state.Project{MasterURL: u})
		}
	})
	g := usage.Ledger{Core: &core.Core{DB: db, Log: slog.New(slog.DiscardHandler), Host: protocol.HostInfo{NCPUs: 4}}}
	now := time.Unix(1_800_000_000, 0)
	g.Open(now)
	start := now
	runs := []usage.Run{
		{Project: light, Light: true, Since: start, Bill: new(debt.Bill)},
		{Project: greedy, CPUs: 1, Since: start, Bill: new(debt.Bill)},
		{Project: gpu, CPUs: 0.2, Kind: resource.NVIDIA, Speed: 40, Since: start, Bill: new(debt.Bill)},
	}
	look := func(light, greedy, gpu float64) bool { // CPUs that each used in the next minute
		now = now.Add(time.Minute)
		for i, cpus := range []float64{light, greedy, gpu} {
			runs[i].Used += time.Duration(cpus * float64(time.Minute))
		}
		return g.Account(now, runs)
	}
	if look(0.05, 3, 0.1) {
		t.Error("a task that needs little CPU time is belied")
	}
	for project, want := range map[string]map[resource.Kind]float64{
		light: {resource.CPU: 3}, greedy: {resource.CPU: 180}, gpu: {resource.NVIDIA: 2400},
	} {
		if got := g.Used[project]; !maps.Equal(got, want) {
			t.Errorf("%s: charged %v, want %v", project, got, want)
		}
	}
	if look(0.05, 1, 1.1) {
		t.Error("a task that needs little CPU time is belied")
	}
	if got, want := g.Used[gpu], map[resource.Kind]float64{resource.NVIDIA: 4800, resource.CPU: 48}; !maps.Equal(got, want) {
		t.Errorf("a driver that keeps a CPU busy: charged %v, want %v", got, want)
	}
	changes := 0
	for range 20 {
		if look(1, 1, 0) {
			changes++
		}
	}
	p, _ := db.Projects.Get(light)
	if changes != 1 || !p.Light.Overused {
		t.Errorf("after 20 minutes of computing: %d changes, %+v", changes, p.Light)
	}
	g.Open(now) // the agent starts again
	for range 60 {
		if look(0.01, 1, 0) {
			changes++
		}
	}
	if p, _ = db.Projects.Get(light); changes != 2 || p.Light.Overused {
		t.Errorf("after an hour with little: %d changes, %+v", changes, p.Light)
	}
}
