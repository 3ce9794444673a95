//go:build unix

package executor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testprogram"
)

// build puts a program of this repository into the project's folder.
func (b *bench) build(pkg, name string) {
	b.t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		b.t.Skip("needs the go command")
	}
	dir := b.t.TempDir()
	if err := testprogram.Build(b.t.Context(), dir, nil, pkg); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, filepath.Base(pkg)), filepath.Join(b.project, name)); err != nil {
		b.t.Fatal(err)
	}
}

func TestMersenne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.build("examples/mersenne", "mersenne_1.0")
	b.put("in_1", "521\n523\n607\n1279\n11\n")
	task := b.task()
	task.Program, task.Args = "mersenne_1.0", []string{"-pause", "1ms"} // longer than three polls
	task.Init.CheckpointPeriod = time.Millisecond
	interrupted := 0
	for fraction := 0.0; ; b.restart() {
		if interrupted == 3 {
			task.Init.CheckpointPeriod = time.Hour
		}
		b.start(task)
		var e Exited
		for ended := false; !ended; {
			switch ev := (<-b.events).(type) {
			case Checkpointed:
				if ev.Fraction > fraction && interrupted < 3 {
					fraction = ev.Fraction
					_ = b.Suspend("r_0")
					_ = b.Quit("r_0")
				}
			case Exited:
				e, ended = ev, true
			}
		}
		if e.Verdict == Success { // on a busy computer sooner than after three interruptions
			break
		}
		if interrupted++; e.Verdict != WillRestart || interrupted > 3 {
			t.Fatalf("got %+v", e)
		}
	}
	if interrupted == 0 {
		t.Error("it was never interrupted")
	}
	want := "M521 is prime!\nM523 is not prime. Res64: "
	last := "\nM607 is prime!\nM1279 is prime!\nM11 is not prime. Res64: 00000000000006C8\n"
	if got := b.read(filepath.Join(b.project, "r_0_0")); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, last) {
		t.Errorf("got %s", got)
	}
}

func TestWrappedProgram(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.build("cmd/starling-wrap", "wrap_1.0")
	b.put("capitals.sh", "#!/bin/sh\ntr a-z A-Z < in; echo done >&2; exit $1\n")
	b.put("forever.sh", "#!/bin/sh\n> working; while :; do :; done\n")
	for _, name := range []string{"capitals.sh", "forever.sh"} {
		must(t, exec.Command("chmod", "+x", filepath.Join(b.project, name)).Run())
	}
	task := func(program string, args ...string) Task {
		task := b.task()
		task.Program, task.Args = "wrap_1.0", args
		task.Files = []File{
			{Physical: "in_1", Logical: "in", Copy: true},
			{Physical: "r_0_0", Logical: "stdout.txt", Output: true, MaxBytes: 100},
			{Physical: program, Logical: "starling_program"},
		}
		return task
	}
	b.start(task("capitals.sh", "0"))
	if e := b.exited(); e.Verdict != Success || b.read(filepath.Join(b.project, "r_0_0")) != "HELLO" {
		t.Errorf("got %+v", e)
	}
	must(t, b.Clear(0))
	b.start(task("capitals.sh", "4"))
	if e := b.exited(); e.Verdict != ComputeError || e.ExitStatus != 4 || !strings.Contains(e.Stderr, "done\n") {
		t.Errorf("got %+v", e)
	}
	must(t, b.Clear(0))
	long := task("forever.sh")
	long.Init.RscFPOpsEst, long.Init.HostInfo = 1e11, "<p_fpops>1e9</p_fpops>" // 100 s
	b.start(long)
	b.appears("working")
	// It does not report its progress, so the progress is estimated from the time.
	for before, rises := 0.0, 0; rises < 2; {
		b.progress(func(p Progress) bool { return p.Fraction > before })
		if before = b.Progress()["r_0"].Fraction; before > 0.5 {
			t.Errorf("%v is done after a moment", before)
		}
		rises++
	}
	_ = b.Suspend("r_0")
	_ = b.Abort("r_0", 203, "aborted by user")
	if e := b.exited(); e.Verdict != Aborted || e.CPUTime == 0 {
		t.Errorf("got %+v", e)
	}
	b.isEmpty()
}
