package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testbus"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/internal/testx11"
)

// A login is a session in logind's list.
type login struct {
	ID         string
	UID        uint32
	User, Seat string
	Path       dbus.ObjectPath
}

// logind is a login manager with one session, which never reports that it is idle.
type logind struct{}

// ListSessions returns that session.
func (logind) ListSessions() ([]login, *dbus.Error) {
	return []login{{"c7", uint32(os.Getuid()), "somebody", "seat0", "/org/freedesktop/login1/session/c7"}}, nil
}

// notifications is a desktop's server of notifications. It sends their texts.
type notifications chan string

func (notifications) GetCapabilities() ([]string, *dbus.Error) { return nil, nil }

func (n notifications) Notify(_ string, _ uint32, _, _, text string, _ []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	n <- text
	return 1, nil
}

// A desktopSession is a session that a test has started.
type desktopSession struct {
	source string   // the source from which a helper gets input
	env    []string // environment of its programs
	input  func() error
}

// seesTheDesktop checks that a whole agent, which cannot see the desktop itself, gets reports from
// the helper in a session on whether somebody uses the computer, and stops and starts computing
// accordingly.
func seesTheDesktop(t *testing.T, ctx context.Context, d desktopSession) {
	t.Helper()
	bus := testbus.Start(t)
	const name, iface = "org.freedesktop.login1", "org.freedesktop.login1.Manager"
	bus.Properties(name, "/org/freedesktop/login1", iface, map[string]any{"IdleHint": false, "IdleSinceHint": uint64(0)})
	bus.Serve(name, "/org/freedesktop/login1", iface, logind{})
	lock := bus.Properties(name, "/org/freedesktop/login1/session/auto", "org.freedesktop.login1.Session", map[string]any{"Id": "c7", "LockedHint": false})

	a, err := testhost.NewAgent(bin, filepath.Join(t.TempDir(), "a"), "run_if_user_active = false\nidle_time_to_run = 0.5\n", "")
	if err != nil {
		t.Fatal(err)
	}
	a.Env = []string{"DBUS_SYSTEM_BUS_ADDRESS=" + bus.Address, "DBUS_SESSION_BUS_ADDRESS=", "DISPLAY=", "WAYLAND_DISPLAY="}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(t, a) })
	await(t, ctx, a, "the agent to say that it sees no desktop", func(s control.Status) bool {
		return strings.Contains(strings.Join(s.NoEffect, " "), "run_if_user_active has no effect") && strings.Contains(strings.Join(s.NoEffect, " "), "starling session")
	})

	shown := make(notifications, 10)
	bus.Serve("org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications", shown)
	if err := os.WriteFile(filepath.Join(a.Dir, "accounts", "bad.toml"), []byte("master_ulr = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(append(os.Environ(), a.Env...), "XDG_RUNTIME_DIR="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir(), "DBUS_SESSION_BUS_ADDRESS="+bus.Address, "STARLING_DATA="+a.Dir)
	env = append(env, d.env...)
	log := filepath.Join(t.TempDir(), "helper.log")
	helper, err := testhost.StartWith(env, log, bin.Path("starling"), "session")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		helper.Kill()
		showLog(t, log)
	})
	reports := func(s control.Status) bool {
		return len(s.Helpers) == 1 && strings.Contains(s.Helpers[0], "("+d.source) && len(s.NoEffect) == 0
	}
	await(t, ctx, a, "the helper's report", reports)
	look := exec.CommandContext(ctx, bin.Path("starling"), "session", "--print")
	look.Env = env
	if out, err := look.CombinedOutput(); err != nil || !strings.Contains(string(out), "notifications     shown") {
		t.Errorf("session --print: %v: %s", err, out)
	}
	second := exec.CommandContext(ctx, bin.Path("starling"), "session")
	second.Env = env
	if out, err := second.CombinedOutput(); err != nil || !strings.Contains(string(out), "A helper is already running in this session.") {
		t.Errorf("a second helper: %v: %s", err, out)
	}

	select {
	case text := <-shown:
		if !strings.Contains(text, "master_ulr") {
			t.Errorf("notification: %s", text)
		}
	case <-ctx.Done():
		t.Error("no notification of the fault in an account file")
	}
	if err := os.Remove(filepath.Join(a.Dir, "accounts", "bad.toml")); err != nil {
		t.Error(err)
	}
	await(t, ctx, a, "computing while nobody is there", func(s control.Status) bool { return reports(s) && s.Compute == "" })
	if err := d.input(); err != nil {
		t.Fatal(err)
	}
	await(t, ctx, a, "the input to suspend computing", func(s control.Status) bool {
		return reports(s) && strings.Contains(s.Compute, "in use") && strings.Contains(s.Presence, "in use, as reported by the helper in the session of")
	})
	if out, err := a.Run(ctx, "status"); err != nil || !strings.Contains(out, "Your use of this computer: in use, as reported by the helper in the session of") {
		t.Errorf("status: %v: %s", err, out)
	}
	if out, err := a.Run(ctx, "why"); err != nil || !strings.Contains(out, "as reported by the helper in the session of") {
		t.Errorf("why: %v: %s", err, out)
	}
	if out, _ := a.Run(ctx, "doctor"); !strings.Contains(out, "by the helper in the session of") {
		t.Errorf("doctor: %s", out)
	}
	lock("LockedHint", true)
	await(t, ctx, a, "the lock", func(s control.Status) bool { return len(s.Helpers) == 1 && strings.Contains(s.Helpers[0], "locked") })

	if err := a.Stop(); err != nil {
		t.Error(err)
	}
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, ctx, a, "the helper to connect again", reports)
	if err := helper.Stop(time.Minute); err != nil {
		t.Error(err)
	}
	await(t, ctx, a, "the helper to be forgotten", func(s control.Status) bool { return len(s.Helpers) == 0 && len(s.NoEffect) > 0 })
}

// TestTheDesktopIsSeen uses a real X server.
func TestTheDesktopIsSeen(t *testing.T) {
	t.Parallel()
	needs(t, "xdotool")
	screen := testx11.Start(t)
	seesTheDesktop(t, patience(t), desktopSession{"X11", []string{"DISPLAY=" + screen.Socket}, func() error {
		cmd := exec.Command("xdotool", "key", "a")
		cmd.Env = append(os.Environ(), "DISPLAY="+screen.Display)
		return cmd.Run()
	}})
}

// TestWaylandDesktopsAreSeen uses real compositors of Debian 13, without screens.
func TestWaylandDesktopsAreSeen(t *testing.T) {
	t.Parallel()
	onDemand(t, "STARLING_DESKTOPS", "test-desktops")
	const run = "../tools/desktops/run"
	where, err := exec.Command("../tools/desktops/make", "--where").Output()
	if err == nil {
		_, err = os.Stat(filepath.Join(strings.TrimSpace(string(where)), "complete"))
	}
	if err != nil {
		t.Skip("there is no bench with compositors, see above; presence in Wayland sessions is NOT tested")
	}
	for _, tt := range []struct {
		name, command, input string
	}{
		{"sway", "exec sway -c /dev/null", "wlrctl keyboard type a"},
		{"labwc", "exec labwc", "wlrctl keyboard type a"},
		// Programs cannot simulate keyboard input in KWin. This is the call that its own programs
		// make when somebody uses a game controller.
		{
			"kwin", "dbus-daemon --session --address=unix:path=$XDG_RUNTIME_DIR/bus --fork && DBUS_SESSION_BUS_ADDRESS=unix:path=$XDG_RUNTIME_DIR/bus exec kwin_wayland --virtual --socket wayland-1",
			"dbus-send --bus=unix:path=$XDG_RUNTIME_DIR/bus --print-reply --dest=org.freedesktop.ScreenSaver /org/freedesktop/ScreenSaver org.freedesktop.ScreenSaver.SimulateUserActivity",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp("", "starling") //nolint:usetesting // sockets need short paths
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			log := filepath.Join(t.TempDir(), "compositor.log")
			compositor, err := testhost.Start(log, run, dir, "sh", "-c", tt.command)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				compositor.Kill()
				showLog(t, log)
			})
			ctx, socket := patience(t), ""
			testwait.Try(t, ctx, tt.name, func() error {
				found, _ := filepath.Glob(filepath.Join(dir, "wayland-?"))
				if len(found) == 0 {
					return errors.New("no socket yet")
				}
				socket = found[0]
				return nil
			})
			seesTheDesktop(t, ctx, desktopSession{"Wayland", []string{"WAYLAND_DISPLAY=" + socket}, func() error {
				out, err := exec.CommandContext(ctx, run, dir, "env", "WAYLAND_DISPLAY="+filepath.Base(socket), "sh", "-c", tt.input).CombinedOutput()
				if err != nil {
					return fmt.Errorf("%w: %s", err, out)
				}
				return nil
			}})
		})
	}
}
