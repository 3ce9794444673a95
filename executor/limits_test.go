//go:build unix

package executor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		what   string
		limit  func(*bench, *Task)
		status int
		text   string
	}{
		{"elapsed time", "tick", func(b *bench, t *Task) {
			t.FLOPS, t.Init.RscFPOpsBound = 1e9, 3e11
			t.Init.StartingElapsedTime = 0
		}, 197, "exceeded elapsed time limit 300.00 (300.00G/1.00G)"},
		{"disk", "disk", func(b *bench, t *Task) { t.Init.RscDiskBound = 2 << 20 }, 196, "MB > 2.00MB"},
		{"stderr", "chatter", func(b *bench, t *Task) {
			t.Init.RscDiskBound, b.timing.disk = 50<<20, time.Hour
		}, 196, "MB > 50.00MB"},
		{"memory of the tree", "memory", func(b *bench, t *Task) {
			b.Allow(Allowance{MostMemory: 50 << 20})
		}, 198, "MB > 50.00MB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBOINCBench(t)
			task := b.boincTask(c.what)
			c.limit(b, &task)
			b.start(task)
			if c.status == 197 { // let the time pass
				must(t, b.toRun("r_0", "test", func(r *run) { r.update(func(p *Progress) { p.Elapsed = 301 * time.Second }) }))
			}
			e := b.exited()
			if e.Verdict != Aborted || e.ExitStatus != c.status || !strings.Contains(e.Message, c.text) {
				t.Errorf("got %+v", e)
			}
			if len(e.Stderr) > maxStderr {
				t.Errorf("%d bytes of stderr", len(e.Stderr))
			}
			b.isEmpty()
		})
	}
}

// TestForkBomb starts processes as often as possible until it is stopped, but at most sixty times.
func TestForkBomb(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"children in sessions of their own": "setsid sleep 60 &",
		"nobody's children":                 "(setsid sh -c 'sleep 60 &')",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Allow(Allowance{Processes: 16})
			b.program("#!/bin/sh\nfor i in $(seq 60); do " + script + " done\nsleep 60\n")
			b.start(b.task())
			e := b.exited()
			if e.Verdict != Aborted || e.ExitStatus != 194 || !strings.Contains(e.Message, "processes > 16 (max_processes)") {
				t.Errorf("got %+v", e)
			}
			b.isEmpty()
		})
	}
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flops, bound float64
		want         time.Duration
	}{
		{1e9, 3e11, 5 * time.Minute},
		{1e9, 1e11, 12 * time.Hour}, // such a short bound is a mistake
		{0, 1e11, 0},
		{1e9, 0, 0},
		{1, 1e300, 100 * 365 * 24 * time.Hour},
	} {
		task := Task{FLOPS: c.flops}
		task.Init.RscFPOpsBound = c.bound
		if got := task.timeLimit(); got != c.want {
			t.Errorf("%v of %v: got %v, want %v", c.bound, c.flops, got, c.want)
		}
	}
}

// TestThrottle counts the polls during which a run is suspended.
func TestThrottle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		percent float64
		runner  Runner
		want    int // number of 100 polls during which it computes
	}{{100, nil, 100}, {0, nil, 100}, {50, nil, 50}, {75, Interpreted{}, 75}, {10, Native{}, 10}, {50, Outside{}, 100}} {
		r := &run{e: &Executor{}}
		r.task.Runner = c.runner
		ran := 0
		for range 100 {
			r.limitCPU(c.percent)
			if !r.throttled {
				ran++
			}
		}
		if ran < c.want-1 || ran > c.want {
			t.Errorf("%v%% %T: computes in %d of 100 polls", c.percent, c.runner, ran)
		}
	}
	r := &run{e: &Executor{}}
	r.task.Unthrottled = true
	for range 100 {
		if r.limitCPU(10); r.throttled {
			t.Fatal("a task of a version that is not to be throttled is held")
		}
	}
}

func TestThrottledApplication(t *testing.T) {
	t.Parallel()
	b := newBOINCBench(t)
	b.timing.poll = 200 * time.Millisecond // the application looks ten times as often
	b.Allow(Allowance{CPU: 34})
	task := b.boincTask("tick")
	b.start(task)
	b.ticking("ticks")
	for range 3 {
		b.stillFor("ticks", 40*time.Millisecond)
		b.ticking("ticks")
	}
	if b.Progress()["r_0"].Suspended {
		t.Error("a throttled run is not a suspended one")
	}
	b.Allow(Allowance{CPU: 1e-9})
	b.stillFor("ticks", 40*time.Millisecond)
	task.Unthrottled = true
	must(t, b.Reread(task))
	b.ticking("ticks")
	_ = b.Quit("r_0")
	b.ends(WillRestart)
}

// TestProgramsThatCannotRun: a program that cannot run is reported at once and not tried again.
func TestProgramsThatCannotRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, want string }{
		"another architecture":   {"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xf3\x00\x01\x00\x00\x00", "not a program for this kind of computer"},
		"not a program":          {"hello\n", "not a program for this kind of computer"},
		"interpreter is missing": {"#!/no/such/interpreter -u\n", "not installed: /no/such/interpreter"},
		"lines of Windows":       {"#!/bin/sh\r\necho\r\n", "not a program for this kind of computer: its lines end as on Windows"},
		"empty":                  {"", "not a program for this kind of computer"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.put("bad", c.content)
			task := b.task()
			task.Program = "bad"
			if err := b.Start(task); !errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
			b.start(b.task("upper")) // others run as usual
			b.ends(Success)
		})
	}
}

func TestMissingLibrary(t *testing.T) {
	t.Parallel()
	b := newBOINCBench(t)
	// The name of a library in the program's table is replaced by one that does not exist.
	name := filepath.Join(b.project, "app_1.0")
	text := strings.Replace(b.read(name), "libboinc_api.so", "libmissing_.so!", 1)
	must(t, os.WriteFile(name, []byte(text), 0o700))
	b.start(b.boincTask("upper"))
	if e := b.exited(); e.Verdict != ComputeError || e.ExitStatus != 127 || !strings.Contains(e.Stderr, "libmissing_.so") {
		t.Errorf("got %+v", e)
	}
}

// TestSuspendedApplicationOutlivesTheAgent: BOINC's runtime notices when its client has ended, but
// not while it is suspended. The next agent ends it and its children, and the slot can be used
// again.
func TestSuspendedApplicationOutlivesTheAgent(t *testing.T) {
	t.Parallel()
	b := newBOINCBench(t)
	b.start(b.boincTask("family"))
	b.ticking("child_ticks")
	b.appears("far")
	far := b.ticks("far")
	pid := b.Progress()["r_0"].PID
	_ = b.Suspend("r_0")
	b.still("child_ticks")
	first := b.events
	b.restart()
	must(t, b.KillLeftovers(t.Context()))
	gone(t, far)
	gone(t, pid)
	for ended := false; !ended; { // unlike a killed agent, the first one still exists and cleans up after its run
		_, ended = (<-first).(Exited)
	}
	if b.read(b.slotFile("boinc_lockfile")) == "absent" {
		t.Error("it left in peace: it was not killed")
	}
	b.start(b.boincTask("upper"))
	b.ends(Success)
}

func TestLostHeartbeat(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	b := newBOINCBench(t)
	// As after a killed agent: no agent polls, and the process ID of the client does not exist.
	b.start(b.boincTask("return"))
	b.exited()
	init := strings.Replace(b.read(b.slotFile("init_data.xml")), "<client_pid>", "<client_pid>99999999", 1)
	must(t, os.WriteFile(b.slotFile("init_data.xml"), []byte(init), 0o600))
	p, err := os.StartProcess("../../projects/example.org_p/app_1.0", []string{"app", "tick"}, &os.ProcAttr{Dir: filepath.Dir(b.slotFile("x"))})
	must(t, err)
	st, err := p.Wait()
	if err != nil || !st.Success() || st.Sys().(syscall.WaitStatus).Signaled() || b.read(b.slotFile("boinc_finish_called")) != "absent" {
		t.Errorf("got %v %v", st, err)
	}
}
