package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

// A desk is a desktop of Debian 13.
type desk struct {
	name   string
	source string                       // the source from which our helper gets input
	start  string                       // commands of a shell that start it and last
	shown  func(*bench) (string, error) // the texts of the notifications
	seat   func(*testing.T, *bench) seat
	icon   string // the file of the icon, which the packages install, "" without packages
	// entry is the first entry of the icon's menu that does something, from the middle of the icon. It is
	// for compositors that give no keys to a panel's menu. Others choose the entry by keys.
	entry image.Point
}

// below is that entry in Waybar.
var below = image.Pt(-60, 50)

// desktops are those that make test-desktops tries.
var desktops = []desk{
	{
		name: "Sway", source: "Wayland", shown: shownByDunst, seat: newXSeat, entry: below,
		start: inWindow + `echo "exec $panel" >$XDG_RUNTIME_DIR/sway
			exec sway -c $XDG_RUNTIME_DIR/sway`,
	},
	{
		name: "labwc", source: "Wayland", shown: shownByDunst, seat: newXSeat, icon: starlingIcon, entry: below,
		start: inWindow + `exec labwc -s "$panel"`,
	},
	{
		name: "KWin", source: "Wayland", shown: shownByDunst, seat: newXSeat, icon: starlingIcon,
		start: inWindow + `exec kwin_wayland --x11-display $DISPLAY --width 1024 --height 768 --xwayland --socket wayland-1 "$panel"`,
	},
	// Without systemd in the session, GNOME Shell cannot start Xwayland.
	{
		name: "GNOME", source: "GNOME", shown: shownByGNOME, seat: newGNOMESeat, icon: starlingIcon,
		start: `rm -rf /run/systemd
			mkdir -p /run/dbus
			dbus-daemon --system --fork
			gsettings set org.gnome.shell enabled-extensions "['ubuntu-appindicators@ubuntu.com']"
			gsettings set org.gnome.shell welcome-dialog-last-shown-version 99
			exec gnome-shell --headless --wayland --no-x11 --unsafe-mode --virtual-monitor 800x600`,
	},
	{
		name: "X11", source: "X11", shown: shownByDunst, seat: newXSeat, icon: starlingIcon,
		start: onX + `mkdir -p ~/.config/xfce4/xfconf/xfce-perchannel-xml
			cat >~/.config/xfce4/xfconf/xfce-perchannel-xml/xfce4-panel.xml <<-END
				<channel name="xfce4-panel" version="1.0"><property name="configver" type="int" value="2"/>
				<property name="panels" type="array"><value type="int" value="1"/><property name="panel-1" type="empty">
				<property name="position" type="string" value="p=6;x=0;y=0"/><property name="length" type="uint" value="100"/>
				<property name="plugin-ids" type="array"><value type="int" value="1"/></property></property></property>
				<property name="plugins" type="empty"><property name="plugin-1" type="string" value="systray"/></property></channel>
			END
			touch $XDG_RUNTIME_DIR/ready
			exec xfce4-panel --disable-wm-check`,
	},
}

const (
	starlingIcon = "../internal/look/icon.svg"
	desktopRun   = "../tools/desktops/run"

	// onX starts an X server, whose socket is also outside.
	onX = `mkdir $XDG_RUNTIME_DIR/x11
		mount --bind $XDG_RUNTIME_DIR/x11 /tmp/.X11-unix
		mkfifo /tmp/number
		Xvfb -displayfd 3 -screen 0 1024x768x24 -nolisten tcp -noreset 3<>/tmp/number &
		read n </tmp/number
		ln -s X$n $XDG_RUNTIME_DIR/x11/x:$n
		echo $n >$XDG_RUNTIME_DIR/number
		export DISPLAY=:$n
		`
	// inWindow lets a compositor run in a window of an X server, where it gets keys and clicks as from
	// devices. BOINC's client must not find that server.
	inWindow = onX + `umount -l /tmp/.X11-unix
		export WLR_BACKENDS=x11 WLR_RENDERER=pixman
		echo '{"modules-right": ["tray"]}' >$XDG_RUNTIME_DIR/waybar.json
		panel="waybar -c $XDG_RUNTIME_DIR/waybar.json"
		`
)

// shownByDunst returns what dunst has shown. The bus starts dunst for the first notification.
func shownByDunst(b *bench) (string, error) {
	const name = "org.freedesktop.Notifications"
	o := b.bus.Object(name, "/org/freedesktop/Notifications")
	if n, err := o.GetProperty("org.dunstproject.cmd0.displayedLength"); err != nil || n.Value() == uint32(0) {
		return "", err
	}
	if err := o.Call("org.dunstproject.cmd0.NotificationCloseAll", 0).Err; err != nil {
		return "", err
	}
	var all []map[string]dbus.Variant
	err := o.Call("org.dunstproject.cmd0.NotificationListHistory", 0).Store(&all)
	return fmt.Sprint(all), err
}

// shownByGNOME returns the texts in GNOME Shell's tray of messages.
func shownByGNOME(b *bench) (text string, err error) {
	var ok bool
	err = b.bus.Object("org.gnome.Shell", "/org/gnome/Shell").Call("org.gnome.Shell.Eval", 0,
		"Main.messageTray.getSources().map(s => s.notifications.map(n => n.title + ': ' + n.body)).join()").Store(&ok, &text)
	return text, err
}

// A bench is a desktop that runs without a screen, with a session bus and BOINC's client.
type bench struct {
	dir     string // its $XDG_RUNTIME_DIR
	bus     *dbus.Conn
	display string   // "WAYLAND_DISPLAY=…" or "DISPLAY=…" of programs inside
	outside string   // the same for our programs, outside
	within  []string // the words before a command of ours that make it one of the desktop's processes
	witness string   // the port of BOINC's client
}

// startDesk starts a desktop, which ends with the test.
func startDesk(t *testing.T, ctx context.Context, d desk) *bench {
	t.Helper()
	dir, err := os.MkdirTemp("", "starling") //nolint:usetesting // sockets need short paths
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	port := freePort(t)
	b := &bench{dir: dir, witness: fmt.Sprint(port)}
	b.prepareBOINC(t)
	log := filepath.Join(t.TempDir(), "desktop.log")
	const first = "dbus-daemon --session --address=$DBUS_SESSION_BUS_ADDRESS --fork\n" +
		"boinc --dir $XDG_RUNTIME_DIR/boinc --gui_rpc_port $BOINC_PORT --allow_multiple_clients >$XDG_RUNTIME_DIR/boinc.log 2>&1 &\n"
	desktop, err := testhost.StartWith([]string{"STARLING_ICON=" + d.icon}, log, desktopRun, dir, "env", "BOINC_PORT="+b.witness, "sh", "-c", first+d.start)
	must(t, err)
	t.Cleanup(func() {
		desktop.Kill()
		showLog(t, log)
	})
	// GNOME Shell looks up the processes that show notifications.
	b.within = []string{"nsenter", fmt.Sprintf("--pid=/proc/%d/ns/pid_for_children", desktop.PID()), "setpriv", "--pdeathsig=TERM"}
	testwait.Try(t, ctx, d.name, func() error {
		if found, _ := filepath.Glob(filepath.Join(dir, "wayland-?")); len(found) > 0 {
			b.outside, b.display = "WAYLAND_DISPLAY="+found[0], "WAYLAND_DISPLAY="+filepath.Base(found[0])
			return nil
		}
		if _, err := os.Stat(filepath.Join(dir, "ready")); err != nil {
			return err
		}
		n, err := b.xServer()
		b.outside, b.display = "DISPLAY="+filepath.Join(dir, "x11", "x:"+n), "DISPLAY=:"+n
		return err
	})
	if _, err := b.do(ctx, "dbus-update-activation-environment "+strings.Split(b.display, "=")[0]); err != nil {
		t.Fatal(err)
	}
	if b.bus, err = dbus.Connect("unix:path=" + filepath.Join(dir, "bus")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.bus.Close() })
	return b
}

// xServer returns the number of the desktop's X server.
func (b *bench) xServer() (string, error) {
	n, err := os.ReadFile(filepath.Join(b.dir, "number"))
	return strings.TrimSpace(string(n)), err
}

// do runs a command of a shell in the desktop.
func (b *bench) do(ctx context.Context, command string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, desktopRun, b.dir, "env", b.display, "sh", "-c", command).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s: %w: %s%s", command, err, out, exit.Stderr)
	}
	return out, err
}

// prepareBOINC makes the data directory of BOINC's client.
func (b *bench) prepareBOINC(t *testing.T) {
	t.Helper()
	dir := filepath.Join(b.dir, "boinc")
	must(t, os.Mkdir(dir, 0o700))
	for name, text := range map[string]string{
		"gui_rpc_auth.cfg":          "secret\n",
		"cc_config.xml":             strings.Replace(boincSettings, "<log_flags>", "<log_flags><idle_detection_debug>1</idle_detection_debug>", 1),
		"global_prefs_override.xml": strings.Replace(boincPreferences, "<run_if_user_active>1<", "<idle_time_to_run>0.5</idle_time_to_run><run_if_user_active>0<", 1),
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

// away logs whether BOINC's client would compute without input.
func (b *bench) away(t *testing.T, ctx context.Context) {
	t.Helper()
	out, err := b.do(ctx, "boinccmd --host 127.0.0.1:"+b.witness+" --passwd secret --get_cc_status")
	_, status, _ := strings.Cut(string(out), "CPU status\n")
	status, _, _ = strings.Cut(status, "\n")
	t.Logf("no input: our agent computes; BOINC's client: %s, %v", strings.TrimSpace(status), err)
}

// used logs when BOINC's client noticed input that our agent noticed after some time, and the first that
// the client wrote about it.
func (b *bench) used(t *testing.T, at time.Time, ours time.Duration) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(b.dir, "boinc.log"))
	if err != nil {
		t.Error(err)
	}
	theirs, about := "not noticed", ""
	for line := range strings.Lines(string(log)) {
		stamp, text, _ := strings.Cut(strings.TrimSpace(line), " [---] ")
		when, err := time.ParseInLocation("02-Jan-2006 15:04:05", stamp, time.Local)
		if err != nil || when.Before(at.Truncate(time.Second)) {
			continue
		}
		if about == "" && strings.HasPrefix(text, "[idle_detection]") {
			about = text
		}
		if strings.Contains(text, "Suspending computation") { // its clock has whole seconds
			theirs = fmt.Sprintf("within %v: %s", (max(0, when.Sub(at)) + time.Second).Truncate(time.Second), text)
			break
		}
	}
	t.Logf("input: our agent suspended within %v; BOINC's client: %s; %s", ours.Round(time.Millisecond), theirs, about)
}

// TestDesktopsAreSeen uses real desktops of Debian 13, without screens. It logs what BOINC's client
// sees there.
func TestDesktopsAreSeen(t *testing.T) {
	t.Parallel()
	onDemand(t, "STARLING_DESKTOPS", "test-desktops")
	needs(t, "nsenter", "setpriv")
	if out, err := exec.Command("../tools/desktops/make", "--where").Output(); err != nil {
		t.Skipf("there is no bench with desktops in %s, see above; presence in real desktops is NOT tested", out)
	}
	const seconds = 20_000
	p := restingProject(t, patience(t), "rest", seconds, 4*len(desktops), "")
	for _, d := range desktops {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			ctx := patience(t)
			b := startDesk(t, ctx, d)
			seat := d.seat(t, b)
			seesTheDesktop(t, ctx, desktopSession{
				source: d.source, project: p,
				env:    []string{b.outside, "DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(b.dir, "bus")},
				within: b.within,
				shown:  func() (string, error) { return d.shown(b) },
				input:  func() error { return seat.key(ctx, "a") },
				away:   func() { b.away(t, ctx) },
				used:   func(at time.Time, ours time.Duration) { b.used(t, at, ours) },
				panel:  func(a *testhost.Agent) { usesTheIcon(t, ctx, a, seat, d.entry) },
			})
		})
	}
}

// usesTheIcon checks that a panel paints the icon, and that the entries of its menu work.
func usesTheIcon(t *testing.T, ctx context.Context, a *testhost.Agent, s seat, entry image.Point) {
	t.Helper()
	var x, y int
	testwait.Try(t, ctx, "the icon to be painted", func() error {
		img, err := s.shot(ctx)
		if err == nil {
			x, y, err = findIcon(img)
		}
		return err
	})
	closed, err := s.shot(ctx)
	must(t, err)
	menu := func(open bool) {
		t.Helper()
		testwait.Try(t, ctx, "the menu to open or to close", func() error {
			img, err := s.shot(ctx)
			if err != nil {
				return err
			}
			if n := changed(closed, img); n > 10_000 != open {
				return fmt.Errorf("%d pixels have changed", n)
			}
			return nil
		})
	}
	for i, want := range []string{"never", "auto"} {
		menu(false)
		must(t, s.click(ctx, x, y))
		menu(true)
		// The first entry that does something: "Pause for 1 hour", and then "Resume".
		if entry == (image.Point{}) {
			err = errors.Join(s.key(ctx, "Down"), s.key(ctx, "Return"))
		} else {
			err = s.click(ctx, x+entry.X, y+entry.Y)
		}
		must(t, err)
		await(t, ctx, a, "the menu's entry to have an effect", func(s control.Status) bool { return s.RunMode == want })
		if out, err := a.Run(ctx, "status"); i == 0 && (err != nil || !strings.Contains(out, "until")) {
			t.Errorf("status: %v: %s", err, out)
		}
	}
}
