package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testprogram"
	"github.com/starling-grid/starling/internal/testwait"
)

// A clock is the wall clock of some programs.
type clock struct {
	bin  testhost.Bin // with programs that have this clock
	file string
}

// newClock makes a clock for a program.
func newClock(t *testing.T, ctx context.Context, program string) clock {
	t.Helper()
	dir := t.TempDir()
	must(t, testprogram.Build(ctx, dir, nil, "e2e/testdata/otherclock"))
	c := clock{testhost.Bin(dir), filepath.Join(dir, "seconds")}
	c.set(t, 0)
	script := fmt.Sprintf("#!/bin/sh\nexec '%s/otherclock' '%s' '%s' \"$@\"\n", dir, c.file, bin.Path(program))
	must(t, os.WriteFile(c.bin.Path(program), []byte(script), 0o700))
	return c
}

// set sets the clock ahead of the computer's, or back if ahead is negative.
func (c clock) set(t *testing.T, ahead time.Duration) {
	t.Helper()
	next := c.file + ".next"
	must(t, os.WriteFile(next, fmt.Appendln(nil, int64(ahead.Seconds())), 0o600))
	must(t, os.Rename(next, c.file))
}

const tenDays = 10 * 24 * time.Hour

// waits is a program that is half done until a file in its slot ends it.
const waits = `#!/bin/sh
echo 0.5 >progress
while [ ! -f end ]; do sleep 0.2; done
echo "done" >out
`

// newWaiting makes a project with three workunits of that program, which are due in a day, and serves
// it with a clock.
func newWaiting(t *testing.T, ctx context.Context, c clock) *testhost.Project {
	t.Helper()
	p := emptyProject(t, ctx, "clock")
	program := written(t, "waits", waits)
	publish(t, ctx, p, "waits", "--main", program, "--plain", "--progress", "progress")
	for _, name := range []string{"a", "b", "c"} {
		run(t, ctx, p, "work", "create", p.Dir, "waits", "--name", name, "--rsc-fpops-est", "1e12", "--rsc-fpops-bound", "1e18", "--delay-bound", "86400")
	}
	p.Bin = c.bin
	serve(t, ctx, p)
	return p
}

// holds reports whether one of three tasks runs.
func holds(s control.Status) bool {
	running := 0
	for _, task := range s.Tasks {
		if task.Running {
			running++
		}
	}
	return len(s.Tasks) == 3 && running == 1
}

// TestClockOfAnAgent sets the clock of an agent ahead and back, while it runs and while it does not.
// Only a deadline that has passed by the server's clock, too, has passed.
func TestClockOfAnAgent(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	servers := newClock(t, ctx, testhost.Server)
	p := newWaiting(t, ctx, servers)
	a := newAgent(t, "a")
	agents := newClock(t, ctx, testhost.Starling)
	a.Bin = agents.bin
	startAgent(t, ctx, a, p)
	await(t, ctx, a, "three tasks, one of them running", holds)
	check := func(situation string) {
		t.Helper()
		if _, err := a.Run(ctx, "update", p.URL); err != nil {
			t.Fatalf("%s: %v", situation, err)
		}
		s := await(t, ctx, a, "the tasks", holds)
		for _, task := range s.Tasks {
			if task.Late > 0 || strings.Contains(task.Why, "passed") {
				t.Errorf("%s: %+v", situation, task)
			}
		}
	}
	restart := func() {
		t.Helper()
		must(t, a.Stop())
		must(t, a.Start())
		must(t, a.Reach(ctx))
	}

	agents.set(t, tenDays)
	check("set ahead")
	restart()
	check("started while it was ahead")
	agents.set(t, -tenDays)
	check("set back")
	restart()
	check("started while it was back")
	agents.set(t, tenDays)
	check("set ahead again")
	if log, err := os.ReadFile(a.Log()); err != nil || !strings.Contains(string(log), "this computer's clock differs from the server's") || !strings.Contains(string(log), "the clock was set ahead") {
		t.Errorf("the log names neither: %v", err)
	}

	servers.set(t, tenDays)
	if _, err := a.Run(ctx, "update", p.URL); err != nil {
		t.Fatal(err)
	}
	s := await(t, ctx, a, "the end of what was not started", func(s control.Status) bool { return len(s.Tasks) == 1 })
	if !s.Tasks[0].Running {
		t.Errorf("left: %+v", s.Tasks)
	}
}

// TestClockOfAServer sets the clock of a server ahead and back, while it runs and while it does not.
// No result is declared late, no computer has to wait, and the work is finished.
func TestClockOfAServer(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	servers := newClock(t, ctx, testhost.Server)
	p := newWaiting(t, ctx, servers)
	a := newAgent(t, "a")
	startAgent(t, ctx, a, p)
	await(t, ctx, a, "three tasks, one of them running", holds)
	check := func(situation string) {
		t.Helper()
		out, err := a.Run(ctx, "update", p.URL)
		if err != nil || strings.Contains(out, "tomorrow") {
			t.Fatalf("%s: %s, %v", situation, out, err)
		}
		if s := await(t, ctx, a, "an answer", func(s control.Status) bool { return len(s.Projects) == 1 }); len(s.Tasks) == 0 || s.Achieved != nil && s.Achieved.Aborted > 0 {
			t.Errorf("%s: %+v", situation, s)
		}
	}
	servers.set(t, tenDays)
	check("set ahead")
	must(t, p.Stop())
	must(t, p.Serve(ctx))
	check("started while it was ahead")
	servers.set(t, 0)
	check("set back")
	testwait.Try(t, ctx, "the outcomes", func() error {
		_ = os.WriteFile(filepath.Join(a.Dir, "slots", "0", "end"), nil, 0o600)
		c, err := p.Count(ctx)
		if err == nil && !c.Done {
			err = fmt.Errorf("%+v", c)
		}
		return err
	})
	for _, says := range []string{"results get an hour more", "the clock was set back"} {
		if log, err := os.ReadFile(p.Dir + ".log"); err != nil || !strings.Contains(string(log), says) {
			t.Errorf("the log lacks %q: %v", says, err)
		}
	}
	if s := run(t, ctx, p, "status", p.Dir); strings.Contains(s, "no reply") {
		t.Errorf("results were declared late:\n%s", s)
	}
}
