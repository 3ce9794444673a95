package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
)

// TestNewWorkReachesIdleAgents lets two agents run out of work, and then gives the project forty
// short jobs. They start at once, not after the wait of ten minutes that follows a request without
// work.
func TestNewWorkReachesIdleAgents(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := emptyProject(t, ctx, "late")
	set(t, p, map[string]string{"daily_result_quota": "0"})
	program := written(t, "second", "#!/bin/sh\nsleep 1\necho done >out\n")
	publish(t, ctx, p, "second", "--main", program, "--plain")
	create := func(n int, prefix string) {
		var list strings.Builder
		for i := range n {
			fmt.Fprintf(&list, "--name %s_%d --rsc-fpops-est 1e9 --rsc-fpops-bound 1e15 --delay-bound 86400\n", prefix, i)
		}
		if _, err := bin.Run(ctx, strings.NewReader(list.String()), "starling-server", "work", "create", p.Dir, "second", "--stdin"); err != nil {
			t.Fatal(err)
		}
	}
	create(4, "first")
	serve(t, ctx, p)
	var agents []*testhost.Agent
	for i := range 2 {
		a := configured(t, fmt.Sprint("agent", i), "", "ncpus = 2\n")
		agents = append(agents, a)
	}
	for _, a := range agents {
		startAgent(t, ctx, a, p)
	}
	run(t, ctx, p, "status", p.Dir, "--wait")
	for _, a := range agents {
		await(t, ctx, a, "the wait after a request without work", func(s control.Status) bool {
			return len(s.Tasks) == 0 && len(s.Projects) == 1 && s.Projects[0].WorkCode == "no_work_backoff"
		})
	}
	created := time.Now()
	create(40, "batch")
	run(t, ctx, p, "status", p.Dir, "--wait")
	t.Logf("forty jobs of a second took two idle agents %v", time.Since(created).Round(time.Second))
}
