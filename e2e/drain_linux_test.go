package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
)

// obeys is a program that saves its work and ends when a file in its slot requests it.
const obeys = `#!/bin/sh
[ -f state ] && echo "went on" >out
while [ ! -f end ]; do
	[ -f save ] && rm save && echo saved >state
	i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done
done
echo "done" >>out
`

// TestDrain makes an agent finish and report the running task, and then save one and quit.
func TestDrain(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := emptyProject(t, ctx, "drain")
	program := written(t, "obeys", obeys)
	publish(t, ctx, p, "obeys", "--main", program, "--plain", "--checkpoint", "state")
	for _, name := range []string{"first", "second"} {
		run(t, ctx, p, "work", "create", p.Dir, "obeys", "--name", name, "--rsc-fpops-est", "1e12", "--rsc-fpops-bound", "1e18")
	}
	serve(t, ctx, p)
	a := newAgent(t, "a")
	startAgent(t, ctx, a, p)
	runs := func(s control.Status) bool { return len(s.Tasks) > 0 && s.Tasks[0].Running && s.Tasks[0].Elapsed > 1 }
	ask := func(file string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(a.Dir, "slots", "0", file), nil, 0o600))
	}
	draining := func(args ...string) (ended func() string) {
		t.Helper()
		said := make(chan string, 1)
		go func() {
			text, err := a.Run(ctx, append([]string{"drain"}, args...)...)
			if err != nil {
				text += err.Error()
			}
			said <- text
		}()
		await(t, ctx, a, "the drain", func(s control.Status) bool { return s.Drain != nil && s.Drain.Tasks == 1 && !s.Drain.Done })
		return func() string {
			select {
			case text := <-said:
				return text
			case <-ctx.Done():
				t.Fatal("the drain does not end")
				return ""
			}
		}
	}

	await(t, ctx, a, "a running task", runs)
	ended := draining()
	if why, err := a.Run(ctx, "why"); err != nil || !strings.Contains(why, "Not fetching new work, because you asked for this computer to finish its work.") {
		t.Errorf("why: %s, %v", why, err)
	}
	ask("end")
	if text := ended(); !strings.Contains(text, "Draining: 1 task to compute") || !strings.HasSuffix(text, "Nothing is left to finish or report.\nIt is safe to shut down now. To resume computing: starling drain --cancel\n") {
		t.Errorf("drain: %s", text)
	}
	if text, err := p.Outcome(ctx, "first", "out"); err != nil || string(text) != "done\n" {
		t.Errorf("outcome %q, %v", text, err)
	}
	s := await(t, ctx, a, "rest", func(s control.Status) bool { return s.Drain != nil && s.Drain.Done && len(s.Tasks) == 0 })
	if s.Projects[0].WorkCode != "draining" {
		t.Errorf("work: %+v", s.Projects[0])
	}
	if text, err := a.Run(ctx, "drain", "--cancel"); err != nil || text != "The drain is canceled.\n" {
		t.Errorf("cancel: %s, %v", text, err)
	}

	await(t, ctx, a, "another running task", runs)
	ended = draining("--checkpoint", "--then", "quit")
	ask("save")
	if text := ended(); !strings.HasSuffix(text, "The agent is stopping. It is safe to shut down.\n") {
		t.Errorf("drain: %s", text)
	}
	quits(t, ctx, a)
	must(t, a.Start())
	s = await(t, ctx, a, "the task to run again", runs)
	if s.Drain != nil {
		t.Errorf("a drain outlived its agent: %+v", s.Drain)
	}
	ask("end")
	if text, err := p.Outcome(ctx, "second", "out"); err != nil || string(text) != "went on\ndone\n" {
		t.Errorf("outcome %q, %v", text, err)
	}
}

func quits(t *testing.T, ctx context.Context, a *testhost.Agent) {
	t.Helper()
	select {
	case <-a.Process().Done():
	case <-ctx.Done():
		t.Fatal("the agent does not quit")
	}
}
