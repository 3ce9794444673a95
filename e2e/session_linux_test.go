package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	source  string            // the source from which a helper gets input
	project *testhost.Project // to compute for, nil: none
	env     []string          // environment of its programs
	within  []string          // the words before a command that make it one of the session's processes, nil: none are needed
	input   func() error
	shown   func() (string, error)                 // the texts of the notifications, nil: a server of this test shows them
	away    func()                                 // after some time without input, nil: nothing
	used    func(at time.Time, ours time.Duration) // after input, and again some time without it, nil: nothing
	panel   func(a *testhost.Agent)                // uses the icon, nil: nothing
}

// seesTheDesktop checks that a whole agent, which cannot see the desktop itself, gets reports from
// the helper in a session on whether somebody uses the computer, and stops and starts computing
// accordingly. The helper shows a notification and an icon there.
func seesTheDesktop(t *testing.T, ctx context.Context, d desktopSession) {
	t.Helper()
	bus := testbus.Start(t)
	const name, iface = "org.freedesktop.login1", "org.freedesktop.login1.Manager"
	bus.Properties(name, "/org/freedesktop/login1", iface, map[string]any{"IdleHint": false, "IdleSinceHint": uint64(0)})
	bus.Serve(name, "/org/freedesktop/login1", iface, logind{})
	lock := bus.Properties(name, "/org/freedesktop/login1/session/auto", "org.freedesktop.login1.Session", map[string]any{"Id": "c7", "LockedHint": false})

	a, err := testhost.NewAgent(bin, filepath.Join(t.TempDir(), "a"), "run_if_user_active = false\nidle_time_to_run = 0.5\n", "")
	must(t, err)
	a.Env = []string{"DBUS_SYSTEM_BUS_ADDRESS=" + bus.Address, "DBUS_SESSION_BUS_ADDRESS=", "DISPLAY=", "WAYLAND_DISPLAY="}
	must(t, a.Start())
	t.Cleanup(func() { end(t, a) })
	if d.project != nil {
		must(t, a.Attach(ctx, d.project))
	}
	await(t, ctx, a, "the agent to say that it sees no desktop", func(s control.Status) bool {
		return strings.Contains(strings.Join(s.NoEffect, " "), "run_if_user_active has no effect") && strings.Contains(strings.Join(s.NoEffect, " "), "starling session")
	})

	if d.shown == nil {
		shown := make(notifications, 10)
		bus.Serve("org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications", shown)
		d.shown = func() (string, error) {
			select {
			case text := <-shown:
				return text, nil
			default:
				return "", nil
			}
		}
	}
	must(t, os.WriteFile(filepath.Join(a.Dir, "accounts", "bad.toml"), []byte("master_ulr = 1\n"), 0o600))
	env := append(append(os.Environ(), a.Env...), "XDG_RUNTIME_DIR="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir(), "DBUS_SESSION_BUS_ADDRESS="+bus.Address, "STARLING_DATA="+a.Dir)
	env = append(env, d.env...)
	log := filepath.Join(t.TempDir(), "helper.log")
	command := append(d.within, bin.Path("starling"), "session")
	helper, err := testhost.StartWith(env, log, command[0], command[1:]...)
	must(t, err)
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

	testwait.Try(t, ctx, "the notification of the fault in an account file", func() error {
		text, err := d.shown()
		if err == nil && !strings.Contains(text, "master_ulr") {
			err = fmt.Errorf("shown: %q", text)
		}
		return err
	})
	if err := os.Remove(filepath.Join(a.Dir, "accounts", "bad.toml")); err != nil {
		t.Error(err)
	}
	tasks := func(s control.Status, run bool) bool {
		return d.project == nil || slices.ContainsFunc(s.Tasks, func(t control.Task) bool { return t.Running }) == run
	}
	computes := func(s control.Status) bool { return reports(s) && s.Compute == "" && tasks(s, true) }
	await(t, ctx, a, "computing while nobody is there", computes)
	if d.away != nil {
		d.away()
	}
	at := time.Now()
	must(t, d.input())
	await(t, ctx, a, "the input to suspend computing", func(s control.Status) bool {
		return reports(s) && tasks(s, false) && strings.Contains(s.Compute, "in use") && strings.Contains(s.Presence, "in use, as reported by the helper in the session of")
	})
	ours := time.Since(at)
	if out, err := a.Run(ctx, "status"); err != nil || !strings.Contains(out, "Your use of this computer: in use, as reported by the helper in the session of") {
		t.Errorf("status: %v: %s", err, out)
	}
	if out, err := a.Run(ctx, "why"); err != nil || !strings.Contains(out, "as reported by the helper in the session of") {
		t.Errorf("why: %v: %s", err, out)
	}
	if out, _ := a.Run(ctx, "doctor"); !strings.Contains(out, "by the helper in the session of") {
		t.Errorf("doctor: %s", out)
	}
	if d.used != nil {
		await(t, ctx, a, "computing after some time without input", computes)
		d.used(at, ours)
	}
	if d.panel != nil {
		d.panel(a)
	}
	lock("LockedHint", true)
	await(t, ctx, a, "the lock", func(s control.Status) bool { return len(s.Helpers) == 1 && strings.Contains(s.Helpers[0], "locked") })

	if err := a.Stop(); err != nil {
		t.Error(err)
	}
	must(t, a.Start())
	await(t, ctx, a, "the helper to connect again", reports)
	if err := helper.Stop(testhost.Grace); err != nil && d.within == nil {
		t.Error(err)
	}
	await(t, ctx, a, "the helper to be forgotten", func(s control.Status) bool { return len(s.Helpers) == 0 && len(s.NoEffect) > 0 })
}

// TestTheDesktopIsSeen uses a real X server.
func TestTheDesktopIsSeen(t *testing.T) {
	t.Parallel()
	needs(t, "xdotool")
	screen := testx11.Start(t)
	seesTheDesktop(t, patience(t), desktopSession{source: "X11", env: []string{"DISPLAY=" + screen.Socket}, input: func() error {
		cmd := exec.Command("xdotool", "key", "a")
		cmd.Env = append(os.Environ(), "DISPLAY="+screen.Display)
		return cmd.Run()
	}})
}
