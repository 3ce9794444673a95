package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/testhost"
)

// TestShares lets an agent with two CPUs work for three servers with resource
// shares 1:2:5, whose tasks take ten seconds each. It must keep the shares to one
// task and 5 %, and all that it decided must be decided alike again.
//
// STARLING_SHARES_MINUTES says how long; without it, the least that tells right
// from wrong.
func TestShares(t *testing.T) {
	t.Parallel()
	const taskSeconds = 10
	d := 100 * time.Second
	if m, err := strconv.ParseFloat(os.Getenv("STARLING_SHARES_MINUTES"), 64); err == nil {
		d = time.Duration(m * float64(time.Minute))
	}
	ctx, cancel := context.WithTimeout(t.Context(), d+4*time.Minute)
	t.Cleanup(cancel)
	shares := []float64{1, 2, 5}
	a, err := testhost.NewAgent(bin, filepath.Join(t.TempDir(), "a"),
		"work_buf_min_days = 0.0005\nwork_buf_additional_days = 0.001\ncpu_scheduling_period_minutes = 1\n",
		"ncpus = 2\n[log_flags]\nsched_decision = true\n")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(); err != nil {
			t.Error(err)
		}
		showLog(t, a.Log())
	})
	for _, share := range shares {
		p := sleepers(t, ctx, fmt.Sprintf("share%v", share), taskSeconds, int(d.Seconds())/taskSeconds*2+20)
		account := fmt.Sprintf("master_url = %q\nauthenticator = %q\nresource_share = %v\n", p.URL, p.Key, share)
		path := filepath.Join(a.Dir, "accounts", fmt.Sprintf("share%v.toml", share))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(account), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-a.Process().Done():
		t.Fatal("the agent ended")
	case <-time.After(d):
	}
	if err := a.Stop(); err != nil {
		t.Fatal(err)
	}
	got, total := used(t, filepath.Join(a.Dir, "decisions.jsonl"))
	t.Logf("%.0f CPU-seconds in %v, by share: %v", total, d, got)
	if total < 1.5*d.Seconds() {
		t.Errorf("two CPUs gave %.0f CPU-seconds in %v", total, d)
	}
	for _, share := range shares {
		want := share / 8
		for name, seconds := range got {
			if strings.Contains(name, fmt.Sprintf("/share%v/", share)) && math.Abs(seconds/total-want) > 0.05*want+2*taskSeconds/total {
				t.Errorf("share %v of 8 got %.1f %%, want %.1f %%", share, 100*seconds/total, 100*want)
			}
		}
	}
	if out, err := a.Run(ctx, "simulate", "--replay", filepath.Join(a.Dir, "decisions.jsonl")); err != nil {
		t.Error(err)
	} else {
		t.Log(out)
	}
}

// sleepers makes and serves a project whose tasks do nothing for some seconds.
func sleepers(t *testing.T, ctx context.Context, name string, seconds, tasks int) *testhost.Project {
	t.Helper()
	p, err := testhost.NewProject(ctx, bin, filepath.Join(t.TempDir(), name), name)
	if err != nil {
		t.Fatal(err)
	}
	set(t, p, map[string]string{"daily_result_quota": "0", "min_sendwork_interval": "1", "max_wus_in_progress": "0"})
	program := filepath.Join(t.TempDir(), "rest")
	if err := os.WriteFile(program, fmt.Appendf(nil, "#!/bin/sh\nsleep %d\necho done >out\n", seconds), 0o700); err != nil {
		t.Fatal(err)
	}
	platform, _ := hostinfo.Platform()
	run(t, ctx, p, "app", "add", p.Dir, "rest")
	run(t, ctx, p, "version", "add", p.Dir, "rest", "--platform", platform, "--version", "1.00", "--main", program, "--plain")
	for n := range tasks {
		run(t, ctx, p, "work", "create", p.Dir, "rest", "--name", fmt.Sprintf("rest_%d", n),
			"--rsc-fpops-est", fmt.Sprintf("%d", seconds*4e9), "--rsc-fpops-bound", "1e15", "--delay-bound", "86400")
	}
	serve(t, ctx, p)
	return p
}

// set changes settings in a project's server.toml.
func set(t *testing.T, p *testhost.Project, settings map[string]string) {
	t.Helper()
	path := filepath.Join(p.Dir, "server.toml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for key, value := range settings {
		i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, key+" ") })
		if i < 0 {
			t.Fatalf("server.toml has no %s", key)
		}
		lines[i] = key + " = " + value
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// used adds up what each project got, by the agent's own record.
func used(t *testing.T, path string) (byURL map[string]float64, total float64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	byURL = make(map[string]float64)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r decide.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Snapshot.Projects {
			byURL[p.URL] += p.Used
			total += p.Used
		}
	}
	return byURL, total
}
