package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/debt"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/resource"
)

// A sharer is a project of TestMixedShares.
type sharer struct {
	name    string
	share   float64
	classes []string // plan classes of the versions of its application, where "" is for the CPUs
}

// TestMixedShares lets an agent with two CPUs and two coprocessors work for three servers: one with
// work only for coprocessors, one only for CPUs, one for both, with resource shares 1:1:2. The
// share violation, computed as the simulator does, stays below 0.03 in twenty minutes. In a shorter
// time, single tasks have more weight.
func TestMixedShares(t *testing.T) {
	t.Parallel()
	d := sharesFor(t)
	ctx, cancel := context.WithTimeout(t.Context(), d+10*time.Minute)
	t.Cleanup(cancel)
	a := configured(t, "a", sharesPrefs,
		"ncpus = 2\n[[coproc]]\ntype = \"fake\"\ncount = 2\npeak_flops = 4e9\n[log_flags]\nsched_decision = true\n")
	sharers := []sharer{{"devices", 1, []string{"faked"}}, {"cpus", 1, []string{""}}, {"both", 2, []string{"", "faked"}}}
	got := make(map[string]*debt.Project)
	for _, s := range sharers {
		p := restingProject(t, ctx, s.name, shareSeconds, 3*int(d.Seconds())/shareSeconds+20, s.classes...)
		joinShare(t, a, p, s.name, s.share)
		got[p.URL] = &debt.Project{Share: s.share, Counts: true, Without: without(s.classes)}
	}
	must(t, a.Start())
	select {
	case <-a.Process().Done():
		t.Fatal("the agent ended")
	case <-time.After(d):
	}
	must(t, a.Stop())
	size := 0.0
	eachRecord(t, filepath.Join(a.Dir, "decisions.jsonl"), func(r decide.Record) {
		var pools []resource.Pool
		for _, p := range r.Snapshot.Coprocs {
			pools = append(pools, p.Pool)
		}
		size = resource.Size(r.Snapshot.CPUs, pools)
		for _, p := range r.Snapshot.Projects {
			got[p.URL].Used[0] += p.Used
			got[p.URL].Used[1] += p.UsedOn["fake"]
		}
	})
	violation, total := shareViolation(t, got)
	t.Logf("share violation %.4f in %v, of %.0f s of a CPU that the computer has %.1f %% idle", violation, d, size*d.Seconds(), 100*(1-total/size/d.Seconds()))
	if limit := max(0.03, 8*shareSeconds/d.Seconds()); violation > limit {
		t.Errorf("the share violation is above %.3f", limit)
	}
	if total < 0.75*size*d.Seconds() {
		t.Errorf("the computer did %.0f s of a CPU in %v, and could do %.0f", total, d, size*d.Seconds())
	}
	if _, err := a.Run(ctx, "simulate", "--replay", filepath.Join(a.Dir, "decisions.jsonl")); err != nil {
		t.Error(err)
	}
}

// without returns the kinds of processors for which a project with versions of these plan classes
// lacks work.
func without(classes []string) (w [debt.MaxKinds]bool) {
	for k := range w {
		w[k] = true
	}
	for _, class := range classes {
		w[map[string]int{"": 0, "faked": 1}[class]] = false
	}
	return w
}

// shareViolation returns the sum of the differences between the projects' use and their claims, as
// a fraction of all use.
//
// Source: sim/figures.go.
func shareViolation(t *testing.T, got map[string]*debt.Project) (violation, total float64) {
	t.Helper()
	var ps []debt.Project
	var urls []string
	for url, p := range got {
		ps, urls = append(ps, *p), append(urls, url)
		total += p.Used[0] + p.Used[1]
	}
	for i, claim := range debt.Claims(ps) {
		used := ps[i].Used[0] + ps[i].Used[1]
		violation += math.Abs(used-claim) / total
		t.Logf("%s: share %v, %.0f s on CPUs and %.0f s on devices, %.2f %% of all; claims %.2f %%",
			urls[i], ps[i].Share, ps[i].Used[0], ps[i].Used[1], 100*used/total, 100*claim/total)
	}
	return violation, total
}

// restingProject makes and serves a project whose tasks do nothing for some seconds, on the CPUs or
// devices that the versions of its application use.
func restingProject(t *testing.T, ctx context.Context, name string, seconds, tasks int, classes ...string) *testhost.Project {
	t.Helper()
	p := emptyProject(t, ctx, name)
	set(t, p, map[string]string{
		"daily_result_quota": "0", "min_sendwork_interval": "1", "max_wus_in_progress": "0", "max_wus_in_progress_gpu": "0",
	})
	planClasses(t, p, planSpec)
	program := written(t, "rest", fmt.Sprintf("#!/bin/sh\nsleep %d\necho done >out\n", seconds))
	platform, _ := hostinfo.Platform()
	run(t, ctx, p, "app", "add", p.Dir, "rest")
	for _, class := range classes {
		run(t, ctx, p, "version", "add", p.Dir, "rest", "--platform", platform, "--version", "1.00", "--plan-class", class, "--main", program, "--plain")
	}
	for n := range tasks {
		job(t, ctx, p, "rest", fmt.Sprintf("rest_%d", n), "--rsc-fpops-est", fmt.Sprintf("%d", seconds*4e9))
	}
	serve(t, ctx, p)
	return p
}

// joinShare writes an account file for a project.
func joinShare(t *testing.T, a *testhost.Agent, p *testhost.Project, name string, share float64) {
	t.Helper()
	account := fmt.Sprintf("master_url = %q\nauthenticator = %q\nresource_share = %v\n", p.URL, p.Key, share)
	path := filepath.Join(a.Dir, "accounts", name+".toml")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(account), 0o600))
}

// eachRecord calls see with each of an agent's recorded decisions.
func eachRecord(t *testing.T, path string, see func(decide.Record)) {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r decide.Record
		must(t, json.Unmarshal(lines.Bytes(), &r))
		see(r)
	}
	must(t, lines.Err())
}
