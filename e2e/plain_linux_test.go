package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

// counts is a program without BOINC's interface that resumes where it stopped. It does not reach
// the end until it has been resumed.
const counts = `#!/bin/sh
n=0 most=5
if [ -f state ]; then n=$(cat state) most=8; echo "went on at $n" >>out; fi
while [ "$n" -lt 8 ]; do
	i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done
	while [ "$n" -ge $most ]; do sleep 1; done
	n=$((n+1))
	echo $n >state.new
	mv state.new state
	echo "step $((n * 100 / 8)) % of $WHAT"
done
echo "reached $n of $WHAT" >>out
`

// TestPlainProgramsGoOn makes a plain program report its progress, and resume from its checkpoint
// after its client was killed: Starling's agent, then BOINC's client.
func TestPlainProgramsGoOn(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := emptyProject(t, ctx, "plain")
	program := written(t, "counts", counts)
	publish(t, ctx, p, "counts", "--main", program, "--plain",
		"--checkpoint", "state", "--progress-pattern", "step ([0-9]+) %", "--env", "WHAT=the whole")
	job(t, ctx, p, "counts", "by_agent")
	serve(t, ctx, p)
	wentOn := func(name, slots string, told func() error, kill, start func()) {
		t.Helper()
		testwait.Try(t, ctx, "a checkpoint", func() error {
			found, _ := filepath.Glob(filepath.Join(slots, "*", "state"))
			if len(found) != 1 {
				return fmt.Errorf("files %q", found)
			}
			text, err := os.ReadFile(found[0])
			if n, _ := strconv.Atoi(strings.TrimSpace(string(text))); n < 3 {
				return fmt.Errorf("at %d, %w", n, err)
			}
			return told()
		})
		kill()
		start()
		text, err := p.Outcome(ctx, name, "out")
		must(t, err)
		var at int
		if n, err := fmt.Sscanf(string(text), "went on at %d\nreached 8 of the whole\n", &at); n != 1 || err != nil || at < 3 {
			t.Errorf("%s: outcome %q, %v", name, text, err)
		}
	}

	a := newAgent(t, "a")
	startAgent(t, ctx, a, p)
	wentOn("by_agent", filepath.Join(a.Dir, "slots"), func() error { return halfway(ctx, a) }, func() { a.Process().Kill() }, func() {
		must(t, a.Start())
	})
	if err := a.Stop(); err != nil {
		t.Error(err)
	}

	job(t, ctx, p, "counts", "by_boinc")
	c := startBOINC(t, ctx)
	c.do(ctx, "--project_attach", p.URL, p.Key)
	wentOn("by_boinc", filepath.Join(c.dir, "slots"), func() error { return nil }, c.proc.Kill, func() { startBOINCIn(t, ctx, c.dir) })
}

// halfway returns nil once the agent shows the progress that the program has reported.
func halfway(ctx context.Context, a *testhost.Agent) error {
	text, err := a.Run(ctx, "tasks", "--json")
	if err != nil {
		return err
	}
	var is struct {
		Tasks []struct {
			Fraction float64 `json:"fraction_done"`
		}
	}
	if err := json.Unmarshal([]byte(text), &is); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	if len(is.Tasks) != 1 || is.Tasks[0].Fraction < 0.375 {
		return fmt.Errorf("tasks %+v", is.Tasks)
	}
	return nil
}
