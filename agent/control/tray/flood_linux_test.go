package tray

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testbus"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/prefs"
)

// flood is the number of messages that a panel out of control sends of each kind.
const flood = 1000

// A slowAgent answers when its gate is open, and counts.
type slowAgent struct {
	gate   atomic.Pointer[chan struct{}]
	looks  load
	clicks load
}

// A load is the number of requests, of those at the same time now, and of the most at the same time.
type load struct{ all, now, most atomic.Int32 }

func (l *load) wait(ctx context.Context, gate <-chan struct{}) {
	l.all.Add(1)
	n := l.now.Add(1)
	for most := l.most.Load(); n > most && !l.most.CompareAndSwap(most, n); most = l.most.Load() {
	}
	select {
	case <-gate:
	case <-ctx.Done():
	}
	l.now.Add(-1)
}

func (a *slowAgent) Desktop(ctx context.Context) (control.Desktop, error) {
	a.looks.wait(ctx, *a.gate.Load())
	return control.Desktop{RunMode: "auto", TrayIcon: true}, ctx.Err()
}

func (a *slowAgent) SetMode(ctx context.Context, _ control.Activity, _ prefs.ModeKind, _ time.Duration) error {
	a.clicks.wait(ctx, *a.gate.Load())
	return nil
}

func (a *slowAgent) Dashboard(context.Context) (string, error) { return "", nil }

// A counter is a panel that counts registrations.
type counter struct {
	n    atomic.Int32
	last chan string // the name of a program, of one element
}

func (c *counter) RegisterStatusNotifierItem(service string) *dbus.Error {
	c.n.Add(1)
	select {
	case c.last <- service:
	default:
	}
	return nil
}

// A panel clicks and opens the menu without end, while the agent is slow. It sends names of a megabyte and
// signals without a subscription, and starts again and again. The agent is asked one thing at a time, and the
// menu works afterwards.
func TestAPanelOutOfControl(t *testing.T) {
	bus := testbus.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", bus.Address)
	a, open, closed := new(slowAgent), make(chan struct{}), make(chan struct{})
	close(open)
	a.gate.Store(&open)
	conn, err := dbus.Connect(bus.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p := &counter{last: make(chan string, 1)}
	if err := conn.Export(p, watcherPath, watcher); err != nil {
		t.Fatal(err)
	}
	appear := func() {
		t.Helper()
		if got, err := conn.RequestName(watcher, 0); err != nil || got != dbus.RequestNameReplyPrimaryOwner {
			t.Fatal(got, err)
		}
	}
	appear()
	go func() { _ = Show(t.Context(), a, nil) }()
	name := <-p.last
	m := conn.Object(name, menuPath)
	a.gate.Store(&closed)
	all := func(what string, n int, call func(done chan *dbus.Call)) {
		t.Helper()
		done := make(chan *dbus.Call, n)
		for range n {
			call(done)
		}
		for range n {
			if c := <-done; c.Err != nil {
				t.Fatalf("%s: %v", what, c.Err)
			}
		}
	}
	long := strings.Repeat("x", 1<<20)
	all("clicks", flood, func(done chan *dbus.Call) {
		m.Go(menuName+".Event", 0, done, hourEntry, "clicked", dbus.MakeVariant(""), uint32(0))
	})
	all("openings", flood, func(done chan *dbus.Call) { m.Go(menuName+".AboutToShow", 0, done, int32(0)) })
	all("long names", 2, func(done chan *dbus.Call) {
		m.Go(menuName+".Event", 0, done, hourEntry, long, dbus.MakeVariant(long), uint32(0))
	})
	all("many entries", 2, func(done chan *dbus.Call) {
		m.Go(menuName+".GetGroupProperties", 0, done, make([]int32, 1<<18), []string{long})
	})
	close(closed)
	if n := a.looks.most.Load(); n > 1 {
		t.Errorf("the agent was asked for its state %d times at once", n)
	}
	testwait.Until(t, "the clicks", func() bool { return a.clicks.all.Load() > 0 && a.clicks.now.Load() == 0 })
	if n, most := a.clicks.all.Load(), a.clicks.most.Load(); n > maxClicks+1 || most > 1 {
		t.Errorf("%d of %d clicks were carried out, %d at once", n, flood, most)
	}

	began := time.Now()
	for range flood {
		conn.Send(&dbus.Message{Type: dbus.TypeSignal, Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldDestination: dbus.MakeVariant(name), dbus.FieldPath: dbus.MakeVariant(dbus.ObjectPath("/org/freedesktop/DBus")),
			dbus.FieldInterface: dbus.MakeVariant(busName), dbus.FieldMember: dbus.MakeVariant(ownerChanged),
		}}, nil)
	}
	for range flood / 10 {
		if _, err := conn.ReleaseName(watcher); err != nil {
			t.Fatal(err)
		}
		appear()
	}
	if _, err := conn.ReleaseName(watcher); err != nil {
		t.Fatal(err)
	}
	before := p.n.Load()
	appear()
	testwait.Until(t, "the icon in the last panel", func() bool { return p.n.Load() > before })
	if n, most := int(p.n.Load()), registrations+2+int(time.Since(began)/time.Second); n > most {
		t.Errorf("%d registrations, want %d at most", n, most)
	}
	if err := m.Call(menuName+".AboutToShow", 0, int32(0)).Err; err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if got, _ := text(t, m); got != "[No task is running]|-|Pause for 1 hour|Pause until resumed|-|Open dashboard" {
		t.Errorf("the menu afterwards: %s", got)
	}
}
