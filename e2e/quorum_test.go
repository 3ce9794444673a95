package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/server/store"
)

// TestAQuorumOutlastsBadHosts makes unmodified BOINC clients finish a project with a quorum of two,
// although one host returns wrong output and another takes work and disappears.
func TestAQuorumOutlastsBadHosts(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	set(t, p, map[string]string{"min_sendwork_interval": "1"})
	// The program recognizes its host by a file in its client's folder.
	program := written(t, "shout", "#!/bin/sh\n[ ! -e ../../silent ] || exec sleep 600\ntr a-z A-Z <in >out\n[ ! -e ../../liar ] || echo lies >>out\n")
	publish(t, ctx, p, "shout", "--main", program, "--plain")
	const n = 2
	for i := range n {
		in := written(t, "text", fmt.Sprintln("hello", i))
		job(t, ctx, p, "shout", fmt.Sprintf("shout_%d", i), "--input", in+"=in", "--delay-bound", "60",
			"--target-nresults", "2", "--min-quorum", "2", "--max-error", "5", "--max-total", "9", "--max-success", "6")
	}
	serve(t, ctx, p)
	join := func(manner string) *boincClient {
		c := startBOINC(t, ctx)
		must(t, os.WriteFile(filepath.Join(c.dir, manner), nil, 0o600))
		c.do(ctx, "--project_attach", p.URL, p.Key)
		return c
	}
	until := func(what string, clients []*boincClient, reached func(testhost.Count) bool) {
		t.Helper()
		ctx, stop := context.WithCancel(ctx)
		var wg sync.WaitGroup
		wg.Go(func() {
			for ctx.Err() == nil {
				for _, c := range clients {
					_ = c.try(ctx, "--project", p.URL, "update") // instead of waiting for hours, as volunteers' clients may
				}
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
			}
		})
		_, err := p.Await(ctx, reached)
		stop()
		wg.Wait()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	silent := join("silent")
	until("a host takes work", nil, func(c testhost.Count) bool { return c.Results.State["in_progress"] > 0 })
	silent.proc.Kill()
	liar := join("liar")
	until("a host returns wrong output", []*boincClient{liar}, func(c testhost.Count) bool { return c.Results.Outcome["success"] > 0 })
	good := []*boincClient{join("good"), join("good")}
	until("the others finish", good, func(c testhost.Count) bool { return c.Done })
	var s store.Status
	must(t, json.Unmarshal([]byte(run(t, ctx, p, "status", p.Dir, "--json")), &s))

	if s.Workunits.Canonical != n || s.Workunits.Error != 0 {
		t.Errorf("workunits: %+v, want %d with a canonical result", s.Workunits, n)
	}
	if s.Results.ByOutcome["no_reply"] == 0 || s.Results.ByValidateState["invalid"] == 0 || s.Results.Granted != 2*n {
		t.Errorf("results: %+v, want some without reply, some invalid, and %d with credit", s.Results, 2*n)
	}
	for i := range n {
		b, err := p.Outcome(ctx, fmt.Sprintf("shout_%d", i), "out")
		if want := fmt.Sprintln("HELLO", i); err != nil || string(b) != want {
			t.Errorf("the outcome is %q, %v; want %q", b, err, want)
		}
	}
	run(t, ctx, p, "doctor", p.Dir)
}
