package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

// TestChainMigrates makes three agents and a BOINC client compute a chain of ten workunits that
// share a file, without any instructions. The chain stays with the host that has the file, and
// moves on when that host dies, which happens twice.
func TestChainMigrates(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	const links = 10
	p := chainProject(t, ctx, links)
	serve(t, ctx, p)

	// Host IDs are assigned in the order in which hosts arrive.
	hosts := make(map[int64]*testhost.Agent)
	for i := range 3 {
		a := newMortal(t, fmt.Sprintf("a%d", i))
		startAgent(t, ctx, a, p)
		awaitHost(t, ctx, p, int64(i+1))
		hosts[int64(i+1)] = a
	}
	c := startBOINC(t, ctx)
	c.do(ctx, "--project_attach", p.URL, p.Key)
	awaitHost(t, ctx, p, 4)

	killed := make(map[int64]bool)
	var by []int64
	testwait.Try(t, ctx, "links", func() error {
		by = chainHosts(t, ctx, p, by, links)
		if n := len(by); n > 0 && len(killed) < 2 && n >= 2+3*len(killed) {
			if id := by[n-1]; hosts[id] != nil && !killed[id] {
				hosts[id].Process().Kill()
				killed[id] = true
			}
		}
		if len(by) < links {
			return fmt.Errorf("only %d links are done, by %v; killed: %v", len(by), by, killed)
		}
		return nil
	})
	moves := 0
	for i := 1; i < links; i++ {
		if by[i] != by[i-1] {
			moves++
			if !killed[by[i-1]] {
				t.Errorf("link %d went from host %d, which was alive, to host %d", i, by[i-1], by[i])
			}
		}
	}
	t.Logf("computed by %v; killed: %v", by, killed)
	if moves > len(killed) || len(killed) == 0 {
		t.Errorf("the chain moved %d times for %d hosts that died", moves, len(killed))
	}
	for i := range links {
		b, err := p.Outcome(ctx, fmt.Sprintf("link_%d", i), "out")
		if err != nil || !strings.HasPrefix(string(b), "KEPT\n") {
			t.Errorf("outcome of link %d: %.20q, %v", i, b, err)
		}
	}
}

// chainProject makes a project with a chain of workunits that share a file.
func chainProject(t *testing.T, ctx context.Context, links int) *testhost.Project {
	t.Helper()
	p := emptyProject(t, ctx, "chain")
	set(t, p, map[string]string{
		"daily_result_quota": "0", "min_sendwork_interval": "0", "affinity_silence_minutes": "0.15",
		"one_result_per_host_per_wu": "false", // the last host alive repeats results that were late or failed
	})
	program := written(t, "shout", "#!/bin/sh\ntr a-z A-Z <in >out\n")
	publish(t, ctx, p, "shout", "--main", program, "--plain")
	archive(t, ctx, p)
	for i := range links {
		args := []string{"--staged", "archive_1=in", "--sticky", "--delay-bound", "40"}
		if i > 0 {
			args = append(args, "--predecessor", fmt.Sprintf("link_%d", i-1))
		}
		job(t, ctx, p, "shout", fmt.Sprintf("link_%d", i), args...)
	}
	return p
}

// awaitHost waits until the project has a record of a host.
func awaitHost(t *testing.T, ctx context.Context, p *testhost.Project, id int64) {
	t.Helper()
	testwait.Try(t, ctx, "a host", func() error {
		_, err := p.Run(ctx, "host", "show", p.Dir, fmt.Sprint(id))
		return err
	})
}

// newMortal makes an agent that may be killed.
func newMortal(t *testing.T, name string) *testhost.Agent {
	t.Helper()
	a, err := testhost.NewAgent(bin, filepath.Join(t.TempDir(), name), "disk_interval = 1\n", "ncpus = 1\n")
	must(t, err)
	t.Cleanup(func() {
		_ = a.Stop()
		showLog(t, a.Log())
	})
	return a
}

// chainHosts returns the hosts that computed the finished links of a chain, in their order. by has
// the hosts of the first links, if they are known.
func chainHosts(t *testing.T, ctx context.Context, p *testhost.Project, by []int64, links int) []int64 {
	t.Helper()
	for i := len(by); i < links; i++ {
		var wu struct {
			CanonicalResultID int64 `json:"canonical_resultid"`
			Results           []struct {
				ID     int64
				HostID int64 `json:"hostid"`
			}
		}
		must(t, json.Unmarshal([]byte(run(t, ctx, p, "work", "show", p.Dir, fmt.Sprintf("link_%d", i), "--json")), &wu))
		if wu.CanonicalResultID == 0 {
			return by
		}
		for _, r := range wu.Results {
			if r.ID == wu.CanonicalResultID {
				by = append(by, r.HostID)
			}
		}
	}
	return by
}
