package poweroff

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/starling-grid/starling/internal/testbus"
	"github.com/starling-grid/starling/internal/testwait"
)

// logind is a login manager that gives locks, or refuses them.
type logind struct {
	fifo    string // each lock is an open end of it
	refuses bool
	asked   chan request
}

type request struct {
	args   string
	client dbus.Sender
	lock   *os.File // logind's copy, which the sent one needs until it was received
}

// Inhibit gives a lock.
func (l *logind) Inhibit(client dbus.Sender, what, who, why, mode string) (dbus.UnixFD, *dbus.Error) {
	r := request{args: what + " " + who + " " + mode, client: client}
	if l.refuses {
		l.asked <- r
		return 0, dbus.NewError("org.freedesktop.DBus.Error.AccessDenied", []any{"Permission denied"})
	}
	var err error
	if r.lock, err = os.OpenFile(l.fifo, os.O_RDWR, 0); err != nil {
		return 0, dbus.MakeFailedError(err)
	}
	fd := dbus.UnixFD(r.lock.Fd())
	l.asked <- r
	return fd, nil
}

func newLogind(t *testing.T) *logind {
	t.Helper()
	l := &logind{asked: make(chan request, 1), fifo: filepath.Join(t.TempDir(), "lock")}
	if err := syscall.Mkfifo(l.fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	return l
}

// start starts a bus with the login manager on it.
func (l *logind) start(t *testing.T) *testbus.Bus {
	t.Helper()
	bus := testbus.Start(t)
	bus.Serve(name, path, manager, l)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.Address)
	return bus
}

// locks returns the number of open locks of this process.
func (l *logind) locks(t *testing.T) (n int) {
	t.Helper()
	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, _ := os.Readlink(fd); to == l.fifo {
			n++
		}
	}
	return n
}

// lines is a log of which each line is received.
type lines chan string

// Write sends a line.
func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

// next returns the next line that has text.
func (l lines) next(t *testing.T, text string) {
	t.Helper()
	for {
		if line := receive(t, l); strings.Contains(line, text) {
			return
		}
	}
}

func (l lines) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func receive[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(testwait.Patience):
		t.Fatal("nothing came")
	}
	return v
}

func TestAShutdownWaitsUntilTheTasksHaveStopped(t *testing.T) {
	l, log := newLogind(t), make(lines, 16)
	bus := l.start(t)
	ctx, release := delayed(t.Context(), log.logger(), time.Hour)
	r := receive(t, l.asked)
	if want := "shutdown Starling delay"; r.args != want {
		t.Errorf("asked for %q, want %q", r.args, want)
	}
	bus.Emit(path, manager+"."+signal, false)
	bus.Emit(path, manager+"."+signal)
	bus.Emit(path, manager+"."+signal, "true")
	bus.Emit(path, manager+".PrepareForSleep", true)
	forge(t, bus, r.client)
	log.next(t, "is not logind")
	if ctx.Err() != nil {
		t.Error("the context ended without a shutdown")
	}

	bus.Emit(path, manager+"."+signal, true)
	receive(t, ctx.Done())
	log.next(t, "the computer is shutting down")
	_ = r.lock.Close()
	if n := l.locks(t); n != 1 {
		t.Errorf("%d locks while the tasks stop, want 1", n)
	}
	if out, err := exec.Command("ls", "-l", "/proc/self/fd").Output(); err != nil || strings.Contains(string(out), l.fifo) {
		t.Errorf("a program that was started has the lock, too: %v\n%s", err, out)
	}
	release()
	if n := l.locks(t); n != 0 {
		t.Errorf("%d locks after the tasks have stopped, want 0", n)
	}
	if len(log) > 0 {
		t.Errorf("logged %q, want nothing more", <-log)
	}
}

// forge sends what logind would send to a client, from another program.
func forge(t *testing.T, bus *testbus.Bus, to dbus.Sender) {
	t.Helper()
	conn, err := dbus.Connect(bus.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	m := &dbus.Message{Type: dbus.TypeSignal, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldDestination: dbus.MakeVariant(string(to)), dbus.FieldPath: dbus.MakeVariant(dbus.ObjectPath(path)),
		dbus.FieldInterface: dbus.MakeVariant(manager), dbus.FieldMember: dbus.MakeVariant(signal), dbus.FieldSignature: dbus.MakeVariant(dbus.SignatureOf(true)),
	}, Body: []any{true}}
	if call := conn.Send(m, nil); call.Err != nil {
		t.Fatal(call.Err)
	}
}

func TestTheLockOutlastsTheBusOnceAShutdownIsAnnounced(t *testing.T) {
	l := newLogind(t)
	var ctx context.Context
	release := func() {}
	t.Run("bus", func(t *testing.T) {
		bus := l.start(t)
		ctx, release = delayed(context.Background(), slog.New(slog.DiscardHandler), time.Hour)
		r := receive(t, l.asked)
		bus.Emit(path, manager+"."+signal, true)
		receive(t, ctx.Done())
		_ = r.lock.Close()
	})
	if n := l.locks(t); n != 1 {
		t.Errorf("%d locks, want 1", n)
	}
	release()
	if n := l.locks(t); n != 0 {
		t.Errorf("%d locks after the tasks have stopped, want 0", n)
	}
}

func TestTheLockIsHeldWhileAnInterruptedAgentStops(t *testing.T) {
	l := newLogind(t)
	bus, log := l.start(t), make(lines, 16)
	parent, interrupt := context.WithCancel(t.Context())
	ctx, release := delayed(parent, log.logger(), time.Hour)
	r := receive(t, l.asked)
	testwait.Until(t, "the lock to arrive", func() bool { return l.locks(t) == 2 })
	_ = r.lock.Close()
	interrupt()
	receive(t, ctx.Done())
	bus.Emit(path, manager+"."+signal, true)
	log.next(t, "the computer is shutting down") // it still listens
	if n := l.locks(t); n != 1 {
		t.Errorf("%d locks while the tasks stop, want 1", n)
	}
	release()
	if n := l.locks(t); n != 0 {
		t.Errorf("%d locks after the tasks have stopped, want 0", n)
	}
}

func TestABusThatComesBackIsUsedAgain(t *testing.T) {
	l := newLogind(t)
	log := make(lines, 16)
	var ctx context.Context
	var first request
	release := func() {}
	defer func() { release() }()
	t.Run("first bus", func(t *testing.T) {
		l.start(t)
		ctx, release = delayed(context.Background(), log.logger(), time.Millisecond)
		first = receive(t, l.asked)
		testwait.Until(t, "the lock to arrive", func() bool { return l.locks(t) == 2 })
	})
	log.next(t, "was lost")
	defer first.lock.Close()
	if n := l.locks(t); n != 1 {
		t.Errorf("%d locks after the bus was lost, want logind's copy alone: nobody would hear of a shutdown", n)
	}
	if ctx.Err() != nil {
		t.Error("the loss of the bus ended the context")
	}
	bus := l.start(t)
	defer receive(t, l.asked).lock.Close()
	bus.Emit(path, manager+"."+signal, true)
	receive(t, ctx.Done())
}

func TestARefusalIsLoggedOnce(t *testing.T) {
	l := newLogind(t)
	l.refuses = true
	l.start(t)
	log := make(lines, 16)
	ctx, release := delayed(t.Context(), log.logger(), time.Millisecond)
	for range 3 {
		receive(t, l.asked)
	}
	release()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error("release did not end the context")
	}
	if line := receive(t, log); !strings.Contains(line, "level=INFO") || !strings.Contains(line, "Permission denied") {
		t.Errorf("logged %q", line)
	}
	if len(log) > 0 {
		t.Errorf("logged again: %q", <-log)
	}
}

func TestWithoutABusTheContextEndsWithItsParent(t *testing.T) {
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	log := make(lines, 16)
	parent, end := context.WithCancel(t.Context())
	ctx, release := Context(parent, log.logger())
	defer release()
	if line := receive(t, log); !strings.Contains(line, "level=DEBUG") {
		t.Errorf("logged %q, want a line for those who look for it", line)
	}
	if ctx.Err() != nil {
		t.Error("the context ended")
	}
	end()
	receive(t, ctx.Done())
}

func TestAServiceNeedsNoDelay(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "@"+t.Name())
	ctx, release := Context(t.Context(), slog.New(slog.DiscardHandler))
	release()
	if ctx != t.Context() {
		t.Error("a service under systemd has another context than its own")
	}
}
