package executor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
)

func TestRunToSuccess(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"links", "copies"} {
		t.Run(how, func(t *testing.T) {
			b := newBench(t)
			task := b.task("upper")
			for i := range task.Files {
				task.Files[i].Copy = how == "copies"
			}
			b.start(task)
			e := b.exited()
			if e.Verdict != Success || e.ExitStatus != 0 || e.Slot != 0 {
				t.Fatalf("got %+v", e)
			}
			if len(e.Outputs) != 1 || e.Outputs[0] != (Output{Physical: "r_0_0", Logical: "out", NBytes: 5, MD5: "eb61eead90e3b899c6bcbe27ac581660"}) {
				t.Errorf("outputs: got %+v", e.Outputs)
			}
			if got := b.read(filepath.Join(b.project, "r_0_0")); got != "HELLO" {
				t.Errorf("output: got %q", got)
			}
			if !strings.Contains(e.Stderr, "finish(0)") || e.CPUTime <= 0 {
				t.Errorf("got %+v", e)
			}
			if err := b.Clear(0); err != nil || b.read(b.slotFile("in")) != "absent" {
				t.Errorf("slot not cleared: %v", err)
			}
		})
	}
}

func TestBadEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		task   func(*bench) Task
		want   Verdict
		status int
		text   string // in the message
	}{
		{"exit status", func(b *bench) Task { return b.task("fail") }, ComputeError, 3, "exited with code 3"},
		{"crash", func(b *bench) Task { return b.task("crash") }, ComputeError, crashedStatus, crashedMessage},
		{"missing output", func(b *bench) Task {
			task := b.task("upper")
			task.Files = append(task.Files, File{Physical: "r_0_1", Logical: "more", Output: true, MaxBytes: 9})
			return task
		}, ComputeError, 0, "-161"},
		{"missing optional output", func(b *bench) Task {
			task := b.task("upper")
			task.Files = append(task.Files, File{Physical: "r_0_1", Logical: "more", Output: true, Optional: true, MaxBytes: 9})
			return task
		}, Success, 0, ""},
		{"missing spare output", func(b *bench) Task {
			task := b.task("upper")
			task.Files = append(task.Files, File{Physical: "r_0_1", Logical: "more", Output: true, Spare: true})
			return task
		}, Success, 0, ""},
		{"spare output that cannot be taken", func(b *bench) Task {
			task := b.task("upper")
			task.Files = append(task.Files, File{Physical: "r_0_1", Logical: appipc.StderrFile, Output: true, Copy: true, Spare: true})
			must(b.t, os.Mkdir(filepath.Join(b.project, "r_0_1"), 0o700))
			return task
		}, Success, 0, ""},
		{"output too big", func(b *bench) Task {
			task := b.task("upper")
			task.Files[1].MaxBytes = 4
			return task
		}, ComputeError, 0, "-131"},
		{"left too early", func(b *bench) Task { return b.task("leave") }, WillRestart, 0, "without a finish file"},
		{"postponed", func(b *bench) Task { return b.task("later") }, Postponed, 0, "no GPU"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.start(c.task(b))
			e := b.exited()
			if e.Verdict != c.want || e.ExitStatus != c.status || !strings.Contains(e.Message, c.text) {
				t.Errorf("got %+v", e)
			}
			if c.name == "exit status" && e.Stderr != "cannot compute\n" {
				t.Errorf("stderr: got %q", e.Stderr)
			}
			if c.name == "output too big" && b.read(filepath.Join(b.project, "r_0_0")) != "absent" {
				t.Error("the output that is too big was kept")
			}
			if c.name == "postponed" && e.Delay != time.Minute {
				t.Errorf("delay %v", e.Delay)
			}
		})
	}
}

func TestTooManyPrematureExits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for n := 1; ; n++ {
		b.start(b.task("leave"))
		e := b.exited()
		if n == 2 { // the count is kept for the next start of the agent, which finds a larger one
			n = maxPrematureExits - 3
			setup := b.slotFile(appipc.SetupFile)
			larger := strings.Replace(b.read(setup), "<premature_exits>2<", fmt.Sprintf("<premature_exits>%d<", n), 1)
			must(t, os.WriteFile(setup, []byte(larger), 0o600))
			b.restart()
		}
		if e.Verdict == WillRestart && n < maxPrematureExits {
			continue
		}
		if n != maxPrematureExits || e.ExitStatus != protocol.ExitTooManyExits {
			t.Errorf("exit %d: got %+v", n, e)
		}
		return
	}
}

func TestQuitAndResumeFromCheckpoint(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var cpu time.Duration
	for n := 1; n <= 3; n++ {
		b.start(b.task("count"))
		ev := <-b.events
		c, ok := ev.(Checkpointed)
		if !ok || c.CPUTime <= cpu {
			t.Fatalf("run %d: got %+v, want a checkpoint after %v", n, ev, cpu)
		}
		cpu = c.CPUTime
		must(t, b.Quit("r_0"))
		// Used is only the CPU time of this run. The main process's last ticks are counted when it
		// has ended.
		if e := b.exited(); e.Verdict != WillRestart || e.CPUTime < cpu || e.Used <= 0 || e.Used > e.CPUTime {
			t.Fatalf("run %d: got %+v", n, e)
		}
		b.restart()
	}
	b.start(b.task("count"))
	e := b.exited()
	if e.Verdict != Success || e.CPUTime < cpu {
		t.Fatalf("got %+v", e)
	}
	for _, s := range []string{`""`, `"x"`, `"xx"`, `"xxx"`} {
		if !strings.Contains(e.Stderr, "starting with "+s) {
			t.Errorf("never started with %s: %s", s, e.Stderr)
		}
	}
	// Another result must not find any of these files.
	task := b.task("count")
	task.Result, task.Init.WUCPUTime = "r_1", time.Hour
	b.start(task)
	if c, ok := (<-b.events).(Checkpointed); !ok || c.CPUTime > time.Hour/2 {
		t.Errorf("got %+v", c)
	}
	if got := b.read(b.slotFile("state")); got != "x" {
		t.Errorf("state of another result: got %q", got)
	}
}

func TestFinishedRunIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"links", "copies"} {
		t.Run(how, func(t *testing.T) {
			b := newBench(t)
			task := b.task("upper")
			for i := range task.Files {
				task.Files[i].Copy = how == "copies"
			}
			b.start(task)
			first := b.exited()
			b.restart() // the agent was killed before it could record the end
			task.Args[1] = "fail"
			b.start(task)
			e := b.exited()
			if e.Verdict != Success || len(e.Outputs) != 1 || e.Outputs[0] != first.Outputs[0] {
				t.Errorf("got %+v, want %+v", e, first)
			}
			const step = time.Microsecond // of the state file
			if first.CPUTime-e.CPUTime > step || first.Elapsed-e.Elapsed > step {
				t.Errorf("got %v in %v, want %v in %v", e.CPUTime, e.Elapsed, first.CPUTime, first.Elapsed)
			}
		})
	}
}
