package tray

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testbus"
	"github.com/starling-grid/starling/prefs"
)

// A panel is a desktop's panel. It sends the names of programs that show an icon.
type panel chan string

func (p panel) RegisterStatusNotifierItem(service string) *dbus.Error {
	p <- service
	return nil
}

// An agent answers with a state that a test sets, and sends the requests that it gets.
type agent struct {
	state chan control.Desktop // of one element
	asked chan string
}

func (a *agent) Desktop(context.Context) (control.Desktop, error) {
	d := <-a.state
	a.state <- d
	if d.RunMode == "other" {
		return d, control.ErrVersion
	}
	if d.RunMode == "" {
		return d, fmt.Errorf("%w in /d", control.ErrNotRunning)
	}
	return d, nil
}

func (a *agent) set(d control.Desktop) {
	<-a.state
	d.TrayIcon = true
	a.state <- d
}

func (a *agent) SetMode(_ context.Context, what control.Activity, kind prefs.ModeKind, d time.Duration) error {
	a.set(control.Desktop{RunMode: control.ModeName(kind), Compute: "You suspended computing."})
	a.asked <- fmt.Sprint(what, control.ModeName(kind), " ", d)
	return nil
}

func (a *agent) Dashboard(context.Context) (string, error) { return "http://127.0.0.1/ticket", nil }

// text describes a menu as a panel shows it: its entries, those in brackets do nothing.
func text(t *testing.T, o dbus.BusObject) (lines string, ids map[string]int32) {
	t.Helper()
	var revision uint32
	var l layout
	if err := o.Call(menuName+".GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &l); err != nil {
		t.Fatal(err)
	}
	ids = make(map[string]int32)
	var all []string
	for _, child := range l.Children {
		var c layout
		if err := dbus.Store([]any{child.Value()}, &c); err != nil {
			t.Fatal(err)
		}
		label, _ := c.Props["label"].Value().(string)
		if ids[label] = c.ID; c.Props["type"].Value() == "separator" {
			label = "-"
		} else if c.Props["enabled"].Value() != true {
			label = "[" + label + "]"
		}
		all = append(all, label)
	}
	return strings.Join(all, "|"), ids
}

func TestTheIconAndItsMenu(t *testing.T) {
	bus := testbus.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", bus.Address)
	a := &agent{make(chan control.Desktop, 1), make(chan string, 1)}
	a.state <- control.Desktop{TrayIcon: true, RunMode: "auto", Running: 4}
	opened := make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- Show(t.Context(), a, func(_ context.Context, address string) { opened <- address })
	}()
	p := make(panel, 10)
	bus.Serve(watcher, watcherPath, watcher, p) // after the icon, or before it
	name := <-p
	conn, err := dbus.Connect(bus.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for property, want := range map[string]string{"IconName": `"starling"`, "Menu": `@o "/StatusNotifierItem/Menu"`, "ItemIsMenu": "true", "Category": `"ApplicationStatus"`} {
		if v, err := conn.Object(name, itemPath).GetProperty(item + "." + property); err != nil || v.String() != want {
			t.Errorf("%s: %v, %v", property, v, err)
		}
	}
	var all []pixmap
	if err := conn.Object(name, itemPath).StoreProperty(item+".IconPixmap", &all); err != nil || len(all) != 1 {
		t.Fatalf("picture: %v, %v", all, err)
	}
	// Its corner is transparent, and below the birds it has the icon's background.
	if p := all[0]; p.Width != 64 || p.Height != 64 || len(p.Pixels) != 4*64*64 || p.Pixels[0] != 0 || !bytes.Equal(p.Pixels[4*(64*60+32):][:4], []byte{0xff, 0x15, 0x40, 0x3f}) {
		t.Errorf("picture: %d by %d, %x", p.Width, p.Height, p.Pixels[:min(len(p.Pixels), 16)])
	}
	m := conn.Object(name, menuPath)
	if err := conn.AddMatchSignal(dbus.WithMatchInterface(menuName)); err != nil {
		t.Fatal(err)
	}
	signals := make(chan *dbus.Signal, 10)
	conn.Signal(signals)
	want := func(what, lines string) (ids map[string]int32) {
		t.Helper()
		got, ids := text(t, m)
		if got != lines {
			t.Errorf("%s: got %s", what, got)
		}
		return ids
	}
	show := func(changed bool) {
		t.Helper()
		var update bool
		if err := m.Call(menuName+".AboutToShow", 0, int32(0)).Store(&update); err != nil || update != changed {
			t.Errorf("about to show: %v, %v", update, err)
		}
	}
	click := func(id int32) {
		t.Helper()
		if err := m.Call(menuName+".Event", 0, id, "clicked", dbus.MakeVariant(""), uint32(0)).Err; err != nil {
			t.Error(err)
		}
	}
	ids := want("at first", "[Computing 4 tasks]|-|Pause for 1 hour|Pause until resumed|-|Open dashboard")
	show(false)
	click(ids["Pause for 1 hour"])
	if got := <-a.asked; got != "never 1h0m0s" {
		t.Errorf("asked: %s", got)
	}
	<-signals // the menu has changed
	ids = want("paused", "[You suspended computing.]|-|Resume|-|Open dashboard")
	click(ids["Resume"])
	if got := <-a.asked; got != "auto 0s" {
		t.Errorf("asked: %s", got)
	}
	<-signals
	click(ids["Resume"]) // of the menu as it was
	click(ids["Open dashboard"])
	if got := <-opened; got != "http://127.0.0.1/ticket" {
		t.Errorf("opened: %s", got)
	}
	a.set(control.Desktop{RunMode: "always", Compute: "a_b"})
	show(true)
	want("always", "[a__b]|-|Follow the preferences|Pause for 1 hour|Pause until resumed|-|Open dashboard")
	a.set(control.Desktop{})
	show(true)
	want("without an agent", "[The agent is not running]")
	a.set(control.Desktop{RunMode: "other"})
	show(true)
	want("another version", "[The agent is of another version: restart the computer]")
	if err := m.Call(menuName+".GetLayout", 0, int32(99), int32(-1), []string{}).Err; err == nil {
		t.Error("an entry that does not exist has a layout")
	}
	<-a.state
	a.state <- control.Desktop{RunMode: "auto"} // without TrayIcon
	_ = m.Call(menuName+".AboutToShow", 0, int32(0)).Err
	if err := <-ended; err != nil {
		t.Errorf("turned off: %v", err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	if err := Show(t.Context(), a, nil); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("without a bus: %v", err)
	}
}
