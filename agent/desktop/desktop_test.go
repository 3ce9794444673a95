package desktop_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/starling-grid/starling/agent/desktop"
	"github.com/starling-grid/starling/internal/testbus"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/internal/testx11"
)

// outside runs a test outside of any session.
func outside(t *testing.T) {
	for _, name := range []string{"WAYLAND_DISPLAY", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_SESSION_ID"} {
		t.Setenv(name, "")
	}
}

// expect reads the session until its best source is as wanted.
func expect(t *testing.T, s *desktop.Session, what string, ok func(desktop.Reading) bool) (r desktop.Reading) {
	t.Helper()
	testwait.Until(t, what, func() bool {
		s.Retry()
		r = s.Idle(time.Now())
		return r.Err == nil && ok(r)
	})
	return r
}

// A real X server announces that people have returned.
func TestAnXServerAnnouncesInput(t *testing.T) {
	outside(t)
	desktop.SetAway(t, 200*time.Millisecond)
	screen := testx11.Start(t)
	t.Setenv("DISPLAY", screen.Socket)
	s := desktop.New()
	r := expect(t, s, "people to be away", func(r desktop.Reading) bool { return r.Idle > 300*time.Millisecond })
	if r.Source != "X11" || !r.Pushes {
		t.Errorf("got %+v", r)
	}
	for range 2 { // it announces more than one return
		cmd := exec.CommandContext(t.Context(), "xdotool", "key", "a")
		cmd.Env = append(cmd.Environ(), "DISPLAY="+screen.Display)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("xdotool cannot type, so the announcement is NOT tested: %v: %s", err, out)
		}
		<-s.Returned
		expect(t, s, "people to be away again", func(r desktop.Reading) bool { return r.Idle > 300*time.Millisecond })
	}
}

// An X server that ends is announced, too, and found again at another address.
func TestAnXServerThatEnds(t *testing.T) {
	outside(t)
	s := desktop.New()
	t.Run("one", func(t *testing.T) {
		t.Setenv("DISPLAY", testx11.Start(t).Socket)
		expect(t, s, "the X server", func(desktop.Reading) bool { return true })
	})
	<-s.Returned
	t.Setenv("DISPLAY", testx11.Start(t).Socket)
	expect(t, s, "another", func(desktop.Reading) bool { return true })
}

// mutter counts how often it is asked to watch.
type mutter struct{ watches chan struct{} }

// GetIdletime answers in milliseconds.
func (mutter) GetIdletime() (uint64, *dbus.Error) { return 61_000, nil }

// AddUserActiveWatch returns the watch's number.
func (m mutter) AddUserActiveWatch() (uint32, *dbus.Error) {
	m.watches <- struct{}{}
	return 7, nil
}

type saver struct{}

// GetSessionIdleTime answers in milliseconds.
func (saver) GetSessionIdleTime() (uint32, *dbus.Error) { return 62_000, nil }

// The desktops' answers arrive over a real bus, GNOME's first.
func TestDesktopsOnTheBus(t *testing.T) {
	outside(t)
	bus := testbus.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", bus.Address)
	s := desktop.New()
	if r := s.Idle(time.Now()); r.Err == nil {
		t.Errorf("without a desktop: got %+v", r)
	}
	bus.Serve("org.kde.screensaver", "/org/freedesktop/ScreenSaver", "org.freedesktop.ScreenSaver", saver{})
	if r := expect(t, s, "KDE", func(desktop.Reading) bool { return true }); r.Source != "KDE screen saver" || r.Idle != 62*time.Second || r.Pushes {
		t.Errorf("got %+v", r)
	}
	const name, path = "org.gnome.Mutter.IdleMonitor", "/org/gnome/Mutter/IdleMonitor/Core"
	m := mutter{make(chan struct{}, 10)}
	bus.Serve(name, path, name, m)
	if r := expect(t, s, "GNOME", func(desktop.Reading) bool { return true }); r.Source != "GNOME" || r.Idle != 61*time.Second || !r.Pushes {
		t.Errorf("got %+v", r)
	}
	s.Idle(time.Now())
	if n := len(m.watches); n != 1 {
		t.Errorf("%d watches, want one that lasts", n)
	}
	bus.Emit(path, name+".WatchFired", uint32(7))
	<-s.Returned
	s.Idle(time.Now())
	if n := len(m.watches); n != 2 {
		t.Errorf("after a return: %d watches, want another one", n)
	}
}

// A source that does not answer in time is not mistaken for the end of the session, and is asked again
// soon.
func TestASlowDesktop(t *testing.T) {
	t.Parallel()
	s, asked := desktop.Scripted(errors.New("not offered"), fmt.Errorf("GNOME: %w", context.DeadlineExceeded), errors.New("not there"))
	now := time.Now()
	for _, after := range []time.Duration{0, 5 * time.Second, 12 * time.Second, 30 * time.Second} {
		if r := s.Idle(now.Add(after)); r.Source != "source 1" || !errors.Is(r.Err, context.DeadlineExceeded) {
			t.Errorf("after %v: got %+v", after, r)
		}
	}
	if want := []int{1, 3, 1}; !slices.Equal(asked, want) {
		t.Errorf("asked %v times, want %v", asked, want)
	}
}

// logind's description of the session.
func TestTheLockedScreen(t *testing.T) {
	outside(t)
	bus := testbus.Start(t)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.Address)
	if desktop.Locked() || desktop.ID() != "" {
		t.Error("locked without logind")
	}
	set := bus.Properties("org.freedesktop.login1", "/org/freedesktop/login1/session/auto", "org.freedesktop.login1.Session", map[string]any{"LockedHint": false, "Id": "c2"})
	if desktop.Locked() || desktop.ID() != "c2" {
		t.Errorf("locked: %v, session %q", desktop.Locked(), desktop.ID())
	}
	set("LockedHint", true)
	if !desktop.Locked() {
		t.Error("not locked")
	}
}

// Xwayland is not asked, because it sees only its own windows' input.
func TestXwaylandIsNotAsked(t *testing.T) {
	outside(t)
	t.Setenv("DISPLAY", testx11.Start(t).Socket)
	t.Setenv("WAYLAND_DISPLAY", t.TempDir()+"/none")
	if r := desktop.New().Idle(time.Now()); r.Err == nil {
		t.Errorf("got %+v", r)
	}
}

// Counters are found in replies of all shapes.
func FuzzSystemCounter(f *testing.F) {
	reply := make([]byte, 32)
	for id, name := range []string{"SERVERTIME", "IDLETIME"} {
		c := binary.LittleEndian.AppendUint32(nil, uint32(id+5))
		c = append(binary.LittleEndian.AppendUint16(append(c, make([]byte, 8)...), uint16(len(name))), name...)
		reply = append(append(reply, c...), make([]byte, -len(c)&3)...)
	}
	f.Add(reply)
	if id, ok := desktop.SystemCounter(reply, "IDLETIME"); !ok || id != 6 {
		f.Errorf("got %d, %v", id, ok)
	}
	f.Fuzz(func(t *testing.T, b []byte) { desktop.SystemCounter(b, "IDLETIME") })
}
