package e2e_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/testhost"
)

// shareSeconds is the duration of a task in the tests of shares.
const shareSeconds = 10

// sharesPrefs make an agent queue some minutes of such tasks.
const sharesPrefs = "work_buf_min_days = 0.0005\nwork_buf_additional_days = 0.001\ncpu_scheduling_period_minutes = 1\n"

// sharesFor returns the time for which shares are observed, which "make shares" sets.
func sharesFor(t *testing.T) time.Duration {
	t.Helper()
	const variable = "STARLING_SHARES_MINUTES"
	onDemand(t, variable, "shares")
	m, err := strconv.ParseFloat(os.Getenv(variable), 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return time.Duration(m * float64(time.Minute))
}

// TestShares lets an agent with two CPUs work for three servers with resource shares 1:2:5, whose
// tasks take ten seconds each. It must keep the shares to within one task and 5 %, and repeating
// its decisions from the records must give the same results.
func TestShares(t *testing.T) {
	t.Parallel()
	d := sharesFor(t)
	ctx, cancel := context.WithTimeout(t.Context(), d+4*time.Minute)
	t.Cleanup(cancel)
	shares := []float64{1, 2, 5}
	a := configured(t, "a", sharesPrefs, "ncpus = 2\n[log_flags]\nsched_decision = true\n")
	for _, share := range shares {
		name := fmt.Sprintf("share%v", share)
		joinShare(t, a, restingProject(t, ctx, name, shareSeconds, int(d.Seconds())/shareSeconds*2+20, ""), name, share)
	}
	must(t, a.Start())
	select {
	case <-a.Process().Done():
		t.Fatal("the agent ended")
	case <-time.After(d):
	}
	must(t, a.Stop())
	got, total := make(map[string]float64), 0.0
	eachRecord(t, filepath.Join(a.Dir, "decisions.jsonl"), func(r decide.Record) {
		for _, p := range r.Snapshot.Projects {
			got[p.URL] += p.Used
			total += p.Used
		}
	})
	t.Logf("%.0f CPU-seconds in %v, by share: %v", total, d, got)
	if total < 1.5*d.Seconds() {
		t.Errorf("two CPUs gave %.0f CPU-seconds in %v", total, d)
	}
	for _, share := range shares {
		want := share / 8
		for name, seconds := range got {
			if strings.Contains(name, fmt.Sprintf("/share%v/", share)) && math.Abs(seconds/total-want) > 0.05*want+2*shareSeconds/total {
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

// planClasses gives a project a plan_class_spec.xml.
func planClasses(t *testing.T, p *testhost.Project, spec string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(p.Dir, "plan_class_spec.xml"), []byte(spec), 0o600))
	set(t, p, map[string]string{"plan_class_spec": `"plan_class_spec.xml"`})
}

// set changes settings in a project's server.toml.
func set(t *testing.T, p *testhost.Project, settings map[string]string) {
	t.Helper()
	path := filepath.Join(p.Dir, "server.toml")
	text, err := os.ReadFile(path)
	must(t, err)
	lines := strings.Split(string(text), "\n")
	for key, value := range settings {
		i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, key+" ") })
		if i < 0 {
			t.Fatalf("server.toml has no %s", key)
		}
		lines[i] = key + " = " + value
	}
	must(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
}
