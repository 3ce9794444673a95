package executor

import (
	"context"
	"errors"
	"os"
	"strconv"
	"testing"
	"time"
)

func TestSuspend(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*bench) Verdict{
		"quit": func(b *bench) Verdict { _ = b.Quit("r_0"); return WillRestart },
		"abort": func(b *bench) Verdict {
			_ = b.Abort("r_0", 203, "aborted by user")
			return Aborted
		},
		"resume and quit": func(b *bench) Verdict {
			_ = b.Resume("r_0")
			_ = b.Quit("r_0")
			return WillRestart
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.start(b.task("wait"))
			b.appears("working")
			must(t, b.Suspend("r_0"))
			b.progress(func(p Progress) bool { return p.Suspended })
			want := end(b)
			e := b.exited()
			if e.Verdict != want || want == Aborted && (e.ExitStatus != 203 || e.Message != "aborted by user") {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestStubbornApplicationIsKilled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.timing.leave = 20 * time.Millisecond
	b.start(b.task("stubborn"))
	b.appears("working")
	_ = b.Quit("r_0")
	b.ends(WillRestart)
	b.start(b.task("stubborn"))
	_ = b.Abort("r_0", 197, "too long")
	b.ends(Aborted, 197)
}

func TestFinishedProcessThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.timing.leave, b.timing.afterFinish = 20*time.Millisecond, 20*time.Millisecond
	b.start(b.task("stubborn"))
	b.appears("working")
	must(t, os.WriteFile(b.slotFile("boinc_finish_called"), []byte("0\n"), 0o600))
	b.ends(Aborted, 194)
}

func TestChildOutsideTheGroupIsKilledToo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.timing.leave = 20 * time.Millisecond
	b.start(b.task("escape"))
	b.appears("working")
	pid, err := strconv.Atoi(b.read(b.slotFile("child")))
	must(t, err)
	_ = b.Quit("r_0")
	b.exited()
	gone(t, pid)
}

func TestStop(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(b.task("wait"))
	b.appears("working")
	other := b.task("wait")
	other.Result, other.Slot = "r_1", 1
	b.start(other)
	must(t, b.Stop(t.Context()))
	for range 2 {
		b.ends(WillRestart)
	}
	if err := b.Start(b.task("wait")); !errors.Is(err, ErrStopped) {
		t.Errorf("start after stop: %v", err)
	}
}

func TestStopKillsWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(b.task("stubborn"))
	b.appears("working")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, b.Stop(ctx))
	b.ends(WillRestart)
}
