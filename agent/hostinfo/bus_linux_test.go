package hostinfo_test

import (
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/internal/testbus"
	"github.com/starling-grid/starling/prefs"
)

type mutter struct{}

// GetIdletime answers in milliseconds.
func (mutter) GetIdletime() (uint64, *dbus.Error) { return 61_000, nil }

// The reports of the desktop and the system over a real bus.
func TestBusesTellOfUse(t *testing.T) {
	session, system := testbus.Start(t), testbus.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", session.Address)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", system.Address)
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	const gnome, logind = "GNOME", "logind"
	now := time.Now()
	expect := func(want map[string]time.Duration) {
		t.Helper()
		hostinfo.ForgetFailures()
		got := hostinfo.AskIdle(now)
		for _, name := range []string{gnome, logind} {
			d, told := got[name]
			if w, ok := want[name]; told != ok || d.Round(time.Millisecond) != w {
				t.Errorf("%s: got %v %v, want %v %v", name, d, told, w, ok)
			}
		}
	}
	expect(nil) // no source has an answer
	session.Serve("org.gnome.Mutter.IdleMonitor", "/org/gnome/Mutter/IdleMonitor/Core", "org.gnome.Mutter.IdleMonitor", mutter{})
	set := system.Properties("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", map[string]any{
		"IdleHint": false, "IdleSinceHint": uint64(0),
	})
	want := map[string]time.Duration{gnome: 61 * time.Second}
	expect(want) // nothing has ever been idle
	set("IdleSinceHint", uint64(now.Add(-time.Minute).UnixMicro()))
	want[logind] = 0
	expect(want) // it was idle and is in use again
	set("IdleSinceHint", uint64(now.Add(-time.Hour).UnixMicro()))
	set("IdleHint", true)
	want[logind] = time.Hour
	expect(want)
	set("IdleSinceHint", uint64(0)) // no user is logged in
	delete(want, logind)
	expect(want)
}

// A logind whose sessions have never reported whether they are idle has no information: its hint
// does not count as use, even if a program prevents it from being idle.
func TestAMuteDesktopIsNotInUse(t *testing.T) {
	hostinfo.ForgetIdle()
	system := testbus.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", system.Address)
	t.Setenv("DISPLAY", "")
	set := system.Properties("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", map[string]any{
		"IdleHint": false, "IdleSinceHint": uint64(0), "BlockInhibited": "shutdown:sleep",
	})
	now := time.Now()
	expect := func(told, unseen bool) {
		t.Helper()
		hostinfo.ForgetFailures()
		var p hostinfo.Presence
		c := p.Sample(now, nil, nil)
		if _, ok := hostinfo.AskIdle(now)["logind"]; ok != told || c.Unseen != unseen {
			t.Errorf("logind tells: %v, want %v; there is a desktop that does not: %v, want %v", ok, told, c.Unseen, unseen)
		}
	}
	expect(false, true)
	set("IdleSinceHint", uint64(now.UnixMicro()))
	set("BlockInhibited", "handle-lid-switch:idle") // a video is playing
	expect(false, true)
	set("IdleHint", true)
	expect(true, false)
	set("IdleHint", false)
	expect(true, false)
}

// helpers are the helpers of a desktop that does not report to logind.
type helpers struct{ idle time.Duration }

// Idle returns the time that the test has set.
func (h helpers) Idle(time.Time) (time.Duration, string, bool) { return h.idle, "a helper", true }

// Lines returns one session.
func (helpers) Lines(time.Time) []string { return []string{"a session"} }

// A helper can make a computer that otherwise looks idle look used, but never the other way round.
func TestHelpersCountIfTheyHaveSeenInput(t *testing.T) {
	hostinfo.ForgetIdle()
	system := testbus.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", system.Address)
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	now := time.Now()
	set := system.Properties("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", map[string]any{
		"IdleHint": true, "IdleSinceHint": uint64(now.Add(-time.Minute).UnixMicro()),
	})
	sample := func(idle time.Duration) prefs.Conditions {
		hostinfo.ForgetFailures()
		p := hostinfo.Presence{Helpers: helpers{idle}}
		return p.Sample(now, nil, nil)
	}
	if c := sample(time.Second); c.Idle > time.Second || c.IdleBy != "a helper" && c.IdleBy != "terminals" || len(c.Helpers) != 1 {
		t.Errorf("a helper that has seen input: got %+v", c)
	}
	if c := sample(time.Hour); c.Idle > 2*time.Minute || c.IdleBy == "a helper" {
		t.Errorf("a helper that has not, where logind has: got %+v", c)
	}
	set("IdleHint", false)
	set("IdleSinceHint", uint64(0))
	if c := sample(time.Hour); c.Unseen || !c.IdleKnown {
		t.Errorf("a helper at a desktop that tells logind nothing: got %+v", c)
	}
}

// A bus that is restarted is found again.
func TestABusThatReturns(t *testing.T) {
	for range 2 {
		bus := testbus.Start(t)
		t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.Address)
		bus.Properties("org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager", map[string]any{"Metered": uint32(1)})
		var p hostinfo.Presence
		if got := p.Sample(time.Now(), nil, nil).Metered; got != prefs.Yes {
			t.Errorf("got %v", got)
		}
	}
}

func TestMeteredNetwork(t *testing.T) {
	bus := testbus.Start(t)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.Address)
	metered := func() prefs.Sense {
		var p hostinfo.Presence
		return p.Sample(time.Now(), nil, nil).Metered
	}
	if got := metered(); got != prefs.Unknown {
		t.Errorf("without NetworkManager: %v", got)
	}
	set := bus.Properties("org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager", map[string]any{"Metered": uint32(0)})
	for n, want := range []prefs.Sense{prefs.Unknown, prefs.Yes, prefs.No, prefs.Yes, prefs.No} {
		set("Metered", uint32(n))
		if got := metered(); got != want {
			t.Errorf("%d: got %v, want %v", n, got, want)
		}
	}
}
