package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

func TestTwoAgentsAndAQuorum(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	exponents := []int{2203, 4423, 9689}
	work(t, ctx, p, 2, exponents...)
	serve(t, ctx, p)
	for name, energy := range map[string]string{"a1": "share_energy = true\n", "a2": ""} {
		startAgent(t, ctx, newAgentWith(t, name, "watts_per_cpu = 30\n"+energy), p)
	}
	creditedOnce(t, ctx, p, 2, exponents...)
	energyOfOne(t, ctx, p)
	for _, e := range exponents {
		text, err := p.Outcome(ctx, fmt.Sprintf("m%d", e), "result.json")
		must(t, err)
		for _, id := range []string{"1", "2"} {
			if !strings.Contains(string(text), `"hostid": `+id) {
				t.Errorf("computer %s has no result of m%d: %s", id, e, text)
			}
		}
	}
}

// energyOfOne checks that the server has the energy of one computer's results, and that the operator sees
// the sum.
func energyOfOne(t *testing.T, ctx context.Context, p *testhost.Project) {
	t.Helper()
	var results []struct {
		HostID   int64   `json:"hostid"`
		EnergyWh float64 `json:"energy_wh"`
	}
	var apps []struct {
		Energy struct {
			Results int64   `json:"results"`
			Wh      float64 `json:"wh"`
			Credit  float64 `json:"credit"`
		} `json:"credited_energy"`
	}
	for what, list := range map[string]any{"result": &results, "app": &apps} {
		text, err := p.Run(ctx, what, "list", p.Dir, "--json")
		if err = errors.Join(err, json.Unmarshal([]byte(text), list)); err != nil {
			t.Fatal(err)
		}
	}
	hosts, n, sum := make(map[int64]bool), int64(0), 0.0
	for _, r := range results {
		if r.EnergyWh > 0 {
			hosts[r.HostID], n, sum = true, n+1, sum+r.EnergyWh
		}
	}
	if len(hosts) != 1 || len(apps) != 1 || apps[0].Energy.Results != n || math.Abs(apps[0].Energy.Wh-sum) > 1e-9*sum || apps[0].Energy.Credit <= 0 {
		t.Errorf("energy of applications %+v, of results %+v", apps, results)
	}
	text, err := p.Run(ctx, "app", "list", p.Dir)
	if want := fmt.Sprintf("%.3g (%d result", sum/float64(n), n); err != nil || !strings.Contains(text, want) {
		t.Errorf("no %q in %s, %v", want, text, err)
	}
}

// await asks the agent for its status until it satisfies ok.
func await(t *testing.T, ctx context.Context, a *testhost.Agent, what string, ok func(control.Status) bool) (s control.Status) {
	t.Helper()
	testwait.Try(t, ctx, what, func() (err error) {
		if s, err = a.Status(ctx); err == nil && ok(s) {
			return nil
		}
		select {
		case <-a.Process().Done():
			t.Fatalf("the agent ended while waiting for %s", what)
		default:
		}
		return errors.Join(err, fmt.Errorf("got %+v", s))
	})
	return s
}

// TestPowerCuts kills agent and server at several points of a result's life and starts them again:
// while it is computed, just after, and while it is sent.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	exponents := []int{4253, 2203, 2281, 3217}
	workWith(t, ctx, p, 1, slowly(time.Millisecond), exponents...)
	serve(t, ctx, p)
	a := newAgent(t, "a")
	startAgent(t, ctx, a, p)
	s := await(t, ctx, a, "a result under way", func(s control.Status) bool {
		for _, k := range s.Tasks {
			if k.Running && k.Fraction > 0.2 && k.PID > 0 {
				return true
			}
		}
		return false
	})
	a.Process().Kill()
	must(t, a.Start())
	again := await(t, ctx, a, "it to go on", func(s control.Status) bool {
		for _, k := range s.Tasks {
			if k.Running && k.Fraction > 0.1 && k.PID > 0 {
				return true
			}
		}
		return false
	})
	for _, k := range s.Tasks {
		for _, now := range again.Tasks {
			if k.Running && now.Running && k.Name == now.Name && now.PID == k.PID {
				t.Errorf("%s still has process %d of the killed agent", k.Name, k.PID)
			}
		}
	}
	// Now kill the agent, and sometimes the server, at arbitrary points until all is done.
	for cut := range 8 {
		c, err := p.Count(ctx)
		must(t, err)
		if c.Done {
			break
		}
		if cut%3 == 1 {
			p.Kill()
			must(t, p.Serve(ctx))
		}
		a.Process().Kill()
		must(t, a.Start())
		await(t, ctx, a, "the agent to be back", func(control.Status) bool { return true })
		select { // wait for a different time in each round
		case <-ctx.Done():
		case <-time.After(time.Duration(300+500*cut) * time.Millisecond):
		}
	}
	creditedOnce(t, ctx, p, 1, exponents...)
}

func TestDetachLeavesNothing(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	lastingWork(t, ctx, p, 1)
	serve(t, ctx, p)
	a := newAgent(t, "a")
	startAgent(t, ctx, a, p)
	await(t, ctx, a, "a running result", func(s control.Status) bool {
		return len(s.Tasks) == 1 && s.Tasks[0].Running && s.Tasks[0].PID > 0
	})
	if _, err := a.Run(ctx, "detach", "--now", p.URL); err != nil {
		t.Fatal(err)
	}
	await(t, ctx, a, "the project to be gone", func(s control.Status) bool {
		return len(s.Projects) == 0 && len(s.Tasks) == 0
	})
	// A slot may still be being emptied: large files take long, and the agent does not wait for them.
	await(t, ctx, a, "its folders to be empty", func(control.Status) bool {
		return !slices.ContainsFunc([]string{"projects", "slots", "accounts"}, func(dir string) bool {
			entries, err := os.ReadDir(filepath.Join(a.Dir, dir))
			return err != nil || len(entries) != 0
		})
	})
}

func TestAttachWithAWrongKeyIsRefusedInWords(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	serve(t, ctx, p)
	a := newAgent(t, "a")
	must(t, a.Start())
	await(t, ctx, a, "the agent", func(control.Status) bool { return true })
	_, err := a.Run(ctx, "attach", p.URL, "--key", strings.Repeat("0", 32))
	if err == nil || !strings.Contains(err.Error(), "knows no account with this key") || strings.Contains(err.Error(), "remove and add") {
		t.Errorf("got %v", err)
	}
	_, err = a.Run(ctx, "attach", p.URL, "--email", testhost.Email, "--password", "wrong")
	if err == nil || !strings.Contains(err.Error(), "password") {
		t.Errorf("got %v", err)
	}
	if _, err = a.Run(ctx, "attach", p.URL, "--email", testhost.Email, "--password", testhost.Password); err != nil {
		t.Error(err)
	}
}

func TestRunEndsWhenIdle(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	work(t, ctx, p, 1, 2203, 2281)
	serve(t, ctx, p)
	a := newAgent(t, "a")
	if _, err := a.Run(ctx, "attach", p.URL, "--key", p.Key); err != nil { // no agent runs yet
		t.Fatal(err)
	}
	must(t, a.Start("--exit-when-idle"))
	must(t, a.Process().Wait(ctx))
	creditedOnce(t, ctx, p, 1, 2203, 2281)
}
