package executor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
)

// A gate is a runner at which each start calls a function, when the slot is prepared. Without a sandbox,
// the start fails if the function returns an error.
type gate struct {
	Native
	at func() error
}

func (g gate) Command(program string, args []string) *exec.Cmd {
	cmd := g.Native.Command(program, args)
	cmd.Err = g.at()
	return cmd
}

// starting starts a task in another goroutine, and returns its outcome.
func (b *bench) starting(t Task) <-chan error {
	started := make(chan error, 1)
	go func() { started <- b.Start(t) }()
	return started
}

// clearing keeps slot 0 reserved, as a Clear that takes long, until the returned function is called.
func (b *bench) clearing() (done func()) {
	b.t.Helper()
	must(b.t, b.reserveToClear(0))
	done = sync.OnceFunc(func() { b.cleared(0) })
	b.t.Cleanup(done)
	return done
}

// promptly requires that f does not wait for anything that the test has to do.
func (b *bench) promptly(f func()) {
	b.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(testwait.Patience):
		b.t.Fatal("it waits")
	}
}

// often gives a run each command so often that a queue of any length would be full.
func (b *bench) often() (err error) {
	for n := range 100 {
		err = errors.Join(err, b.Suspend("r_0"), b.Resume("r_0"), b.Reread(b.task()),
			b.UploadEnded("r_0", "out", n), b.Suspend("r_0"), b.Quit("r_0"), b.Abort("r_0", 203, fmt.Sprint("aborted ", n)))
	}
	return err
}

// A run takes commands while its start waits until the slot is empty. Its program is not started if
// it is not to run anymore by then.
func TestCommandsWhileTheSlotIsEmptied(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command func(*bench) error
		want    Verdict
	}{
		"suspend": {func(b *bench) error { return b.Suspend("r_0") }, WillRestart},
		"quit":    {func(b *bench) error { return b.Quit("r_0") }, WillRestart},
		"abort":   {func(b *bench) error { return b.Abort("r_0", 203, "aborted by user") }, Aborted},
		"all":     {(*bench).often, Aborted},
		"suspend and resume": {func(b *bench) error {
			return errors.Join(b.Suspend("r_0"), b.Resume("r_0"))
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			cleared := b.clearing()
			started := b.starting(b.task("wait"))
			b.until("the run", func() bool { return len(b.Progress()) > 0 })
			b.promptly(func() { must(t, c.command(b)) })
			cleared()
			must(t, <-started)
			if c.want == 0 {
				b.appears("working")
				return
			}
			e := b.exited()
			if e.Verdict != c.want || c.want == Aborted && e.ExitStatus != 203 {
				t.Errorf("got %+v", e)
			}
			if b.read(b.slotFile("working")) != "absent" {
				t.Error("its program was started")
			}
		})
	}
}

// However many commands are given while a program is being started, none waits, and they take effect
// once it is started.
func TestCommandsWhileAProgramIsStarted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	reached, passed := make(chan struct{}), make(chan struct{})
	pass := sync.OnceFunc(func() { close(passed) })
	t.Cleanup(pass)
	task := b.task("wait")
	task.Runner = gate{at: func() error {
		close(reached)
		<-passed
		return nil
	}}
	started := b.starting(task)
	<-reached
	b.promptly(func() { must(t, b.often()) })
	waiting := len(b.runs["r_0"].commands.waiting)
	pass()
	must(t, <-started)
	b.ends(Aborted, 203)
	if waiting > 5 {
		t.Errorf("%d commands were kept", waiting)
	}
	if err := b.Abort("r_0", 203, "again"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after the end: %v", err)
	}
}

// A run that is suspended while its program is being started does not compute.
func TestSuspendWhileAProgramIsStarted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	task := b.task("wait")
	task.Runner = gate{at: func() error { return b.Suspend("r_0") }}
	b.start(task)
	b.progress(func(p Progress) bool { return p.Suspended && p.PID != 0 })
	must(t, b.Resume("r_0"))
	b.progress(func(p Progress) bool { return !p.Suspended })
}

// An abort is honored even if the start during which it was requested fails. The times of earlier
// runs are not lost.
func TestAbortOfAStartThatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, fail := range map[string]func(*bench, *Task) error{
		"before the slot is prepared": func(b *bench, task *Task) error {
			cleared := b.clearing()
			started := b.starting(*task)
			b.until("the run", func() bool { return len(b.Progress()) > 0 })
			must(b.t, os.Remove(filepath.Join(b.project, "in_1")))
			must(b.t, os.Remove(b.slotFile("in")))
			must(b.t, b.Abort("r_0", 203, "aborted by user"))
			cleared()
			return <-started
		},
		"after that": func(b *bench, task *Task) error {
			task.Runner = gate{at: func() error { return errors.Join(broken, b.Abort("r_0", 203, "aborted by user")) }}
			return b.Start(*task)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.sandboxed = nil
			task := b.task("count")
			b.start(task)
			c, ok := (<-b.events).(Checkpointed)
			must(t, b.Quit("r_0"))
			if e := b.exited(); !ok || e.Verdict != WillRestart {
				t.Fatalf("got %+v", e)
			}
			must(t, fail(b, &task))
			e := b.exited()
			if e.Verdict != Aborted || e.ExitStatus != 203 || e.Message != "aborted by user" || e.CPUTime < c.CPUTime {
				t.Errorf("got %+v after %+v", e, c)
			}
			if err := b.Clear(0); err != nil || len(b.Progress()) > 0 {
				t.Errorf("the slot is not free: %v", err)
			}
		})
	}
}

// A start that fails reports that, and commands are refused afterwards.
func TestQuitOfAStartThatFails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.sandboxed = nil
	broken := errors.New("broken")
	task := b.task("wait")
	task.Runner = gate{at: func() error { return errors.Join(broken, b.Quit("r_0")) }}
	if err := b.Start(task); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := b.Quit("r_0"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("afterwards: %v", err)
	}
	b.start(b.task("upper"))
	b.ends(Success)
}

// A run takes commands between two attempts to start a program that another process has open.
func TestCommandsBetweenAttempts(t *testing.T) {
	t.Parallel()
	busy := syscall.ETXTBSY
	if runtime.GOOS == "windows" {
		busy = 32 // ERROR_SHARING_VIOLATION
	}
	b := newBench(t)
	b.sandboxed = nil
	attempts := 0
	task := b.task("wait")
	task.Runner = gate{at: func() error {
		attempts++
		return errors.Join(busy, b.Suspend("r_0"))
	}}
	b.start(task)
	b.ends(WillRestart)
	if attempts != 1 {
		t.Errorf("%d attempts after it was suspended", attempts-1)
	}
}
