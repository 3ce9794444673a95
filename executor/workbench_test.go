package executor

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol/appipc"
)

// A bench is an executor with its data directory and one project.
type bench struct {
	*Executor
	t       *testing.T
	data    string
	project string
	events  chan Event
}

func newBench(t *testing.T) *bench {
	t.Helper()
	data, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	b := &bench{t: t, data: data, project: filepath.Join(data, "projects", "example.org_p")}
	must(t, os.MkdirAll(b.project, 0o700))
	must(t, install(b.project, programName))
	b.put("in_1", "hello")
	b.restart()
	return b
}

// restart replaces the executor with a new one, as when the agent is killed.
func (b *bench) restart() {
	b.t.Helper()
	events := make(chan Event, 100)
	e, err := New(b.data, slog.New(slog.NewTextHandler(b.t.Output(), nil)), func(ev Event) { events <- ev })
	if err != nil {
		b.t.Fatal(err)
	}
	e.timing = timing{poll: 20 * time.Millisecond, leave: 10 * time.Second, unread: time.Minute, afterFinish: time.Minute, unresponsive: time.Minute, disk: 50 * time.Millisecond}
	e.PassEnvironment([]string{"GORACE", "NAMED"})
	if err := e.Confine(Sandbox{}); err != nil { // as in an agent, so that the tests also show that everything works in a sandbox
		b.t.Fatal(err)
	}
	b.Executor, b.events = e, events
	b.t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = e.Stop(ctx)
	})
}

func (b *bench) put(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.project, name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) slotFile(name string) string { return filepath.Join(b.data, "slots", "0", name) }

func (b *bench) read(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return "absent"
	}
	return string(text)
}

func (b *bench) task(args ...string) Task {
	init := appipc.DefaultInitData()
	init.NoPriorityChange = true // otherwise tests would starve while other programs compute
	return Task{
		Result: "r_0", ProjectURL: "http://example.org/p/", Slot: 0, ProjectDir: b.project, Program: programName,
		Args: append([]string{"application"}, args...),
		Files: []File{
			{Physical: "in_1", Logical: "in"},
			{Physical: "r_0_0", Logical: "out", Output: true, MaxBytes: 1000},
		},
		Init: init,
	}
}

func (b *bench) start(t Task) {
	b.t.Helper()
	if err := b.Start(t); err != nil {
		b.t.Fatal(err)
	}
}

// exited waits for the end of the run.
func (b *bench) exited() Exited {
	for ev := range b.events {
		if e, ok := ev.(Exited); ok {
			return e
		}
	}
	panic("unreachable")
}

// ends waits for the end of the run, which must be as wanted, with the exit status if there is one.
func (b *bench) ends(want Verdict, status ...int) {
	b.t.Helper()
	if e := b.exited(); e.Verdict != want || len(status) > 0 && e.ExitStatus != status[0] {
		b.t.Fatalf("got %.1000v, want %v %v", e, want, status)
	}
}

// isEmpty requires that no process is left in the slots.
func (b *bench) isEmpty() {
	b.t.Helper()
	if left := b.inhabitants(filepath.Join(b.data, "slots"), b.ours); len(left) > 0 {
		b.t.Errorf("processes left: %v", left)
	}
}

// appears waits until the application has made a file in its slot.
func (b *bench) appears(name string) {
	b.t.Helper()
	b.until(name, func() bool {
		_, err := os.Stat(b.slotFile(name))
		return err == nil
	})
}

// progress waits until the run's progress satisfies f.
func (b *bench) progress(f func(Progress) bool) {
	b.t.Helper()
	b.until("progress", func() bool {
		b.Watch()
		return f(b.Progress()["r_0"])
	})
}

// until waits for a condition. An event before that fails the test.
func (b *bench) until(what string, done func() bool) {
	b.t.Helper()
	testwait.Until(b.t, what, func() bool {
		if done() {
			return true
		}
		select {
		case ev := <-b.events:
			b.t.Fatalf("waiting for %s: %+v", what, ev)
		default:
		}
		return false
	})
}

var must = testerr.Must
