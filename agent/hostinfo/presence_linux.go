package hostinfo

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/screensaver"
	"github.com/jezek/xgb/xproto"

	"github.com/starling-grid/starling/prefs"
)

// busTimeout bounds a question to another program.
const busTimeout = 2 * time.Second

// retry is how long a source that failed is left alone.
const retry = time.Minute

// A source tells for how long there was no input.
type source struct {
	name string
	idle func(now time.Time) (time.Duration, error)

	terminal bool // it tells of terminals only, not of desktops

	failed time.Time
}

var (
	sourcesMu sync.Mutex
	unseen    bool // see Unseen; as of the last question
	sources   = []*source{
		{name: "X11 screen saver", idle: idleX11},
		{name: "GNOME (Mutter) idle monitor", idle: idleMutter},
		{name: "freedesktop screen saver", idle: idleScreenSaver},
		{name: "logind", idle: idleLogind},
		{name: "terminals", idle: idleTerminals, terminal: true},
	}
)

// Idle returns for how long nobody has used the computer: the least that any of
// the sources that work here tells. ok is false when none does.
func Idle(now time.Time) (idle time.Duration, ok bool) {
	for _, d := range askIdle(now) {
		if !ok || d < idle {
			idle, ok = d, true
		}
	}
	return idle, ok
}

// IdleSources lists what tells here whether the computer is in use. All are asked, those too that
// have just failed.
func IdleSources() (names []string) {
	sourcesMu.Lock()
	for _, s := range sources {
		s.failed = time.Time{}
	}
	sourcesMu.Unlock()
	for name := range askIdle(time.Now()) {
		names = append(names, name)
	}
	return names
}

// Unseen reports whether somebody is logged in at a desktop that does not tell when it is
// used, as of the last question: then Idle is of terminals only.
func Unseen() bool {
	sourcesMu.Lock()
	defer sourcesMu.Unlock()
	return unseen
}

func askIdle(now time.Time) map[string]time.Duration {
	sourcesMu.Lock()
	defer sourcesMu.Unlock()
	told := make(map[string]time.Duration)
	mute, seen := false, false // desktops
	defer func() { unseen = mute && !seen }()
	for _, s := range sources {
		if !s.failed.IsZero() && now.Sub(s.failed).Abs() < retry {
			continue
		}
		d, err := s.idle(now)
		if errors.Is(err, errMute) { // it works, and may know more at the next question
			mute = true
			continue
		}
		if err != nil {
			s.failed = now
			continue
		}
		s.failed = time.Time{}
		seen = seen || !s.terminal
		told[s.name] = max(0, d)
	}
	return told
}

// idleX11 asks the X server, if there is one.
func idleX11(time.Time) (time.Duration, error) {
	if os.Getenv("DISPLAY") == "" {
		return 0, errors.New("no DISPLAY")
	}
	xgb.Logger.SetOutput(io.Discard) // it writes to standard error what is returned as well
	x, err := xgb.NewConn()
	if err != nil {
		return 0, err
	}
	defer x.Close()
	if err := screensaver.Init(x); err != nil {
		return 0, err
	}
	root := xproto.Drawable(xproto.Setup(x).DefaultScreen(x).Root)
	info, err := screensaver.QueryInfo(x, root).Reply()
	if err != nil {
		return 0, err
	}
	return time.Duration(info.MsSinceUserInput) * time.Millisecond, nil
}

// A bus is a message bus whose connection is kept: to open one for each question takes many
// messages, each of which wakes this process.
type bus struct {
	open    func(...dbus.ConnOption) (*dbus.Conn, error)
	address string // variable of the environment that names it

	mu   sync.Mutex
	conn *dbus.Conn
	at   string // that conn leads to
}

var (
	systemBus  = bus{open: dbus.ConnectSystemBus, address: "DBUS_SYSTEM_BUS_ADDRESS"}
	sessionBus = bus{open: session, address: "DBUS_SESSION_BUS_ADDRESS"}
)

// call asks another program.
func (b *bus) call(dest string, path dbus.ObjectPath, method string, into any, args ...any) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := os.Getenv(b.address); b.conn == nil || !b.conn.Connected() || at != b.at {
		b.close()
		c, err := b.open()
		if err != nil {
			return err
		}
		b.conn, b.at = c, at
	}
	ctx, cancel := context.WithTimeout(context.Background(), busTimeout)
	defer cancel()
	err := b.conn.Object(dest, path).CallWithContext(ctx, method, dbus.FlagNoAutoStart, args...).Store(into)
	if told := (dbus.Error{}); err != nil && !errors.As(err, &told) {
		b.close()
	}
	return err
}

func (b *bus) close() {
	if b.conn != nil {
		_ = b.conn.Close()
		b.conn = nil
	}
}

// property asks for a property of the system's services.
func property(dest string, path dbus.ObjectPath, iface, name string, into any) error {
	var v dbus.Variant
	if err := systemBus.call(dest, path, "org.freedesktop.DBus.Properties.Get", &v, iface, name); err != nil {
		return err
	}
	return v.Store(into)
}

// session opens the bus of the user's session, if there is one; none is started.
func session(opts ...dbus.ConnOption) (*dbus.Conn, error) {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
		return nil, errors.New("no session bus")
	}
	return dbus.ConnectSessionBus(opts...)
}

func idleMutter(time.Time) (time.Duration, error) {
	var ms uint64
	err := sessionBus.call("org.gnome.Mutter.IdleMonitor", "/org/gnome/Mutter/IdleMonitor/Core", "org.gnome.Mutter.IdleMonitor.GetIdletime", &ms)
	return time.Duration(min(ms, 1<<40)) * time.Millisecond, err
}

func idleScreenSaver(time.Time) (time.Duration, error) {
	var ms uint32
	err := sessionBus.call("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver", "org.freedesktop.ScreenSaver.GetSessionIdleTime", &ms)
	return time.Duration(ms) * time.Millisecond, err
}

// errMute says that logind has sessions that have never told it whether they are idle.
var errMute = errors.New("a desktop does not tell logind when it is used")

// everIdle notes that logind has called the computer idle since this process began.
var everIdle bool // guarded by sourcesMu

// idleLogind asks the system's log-in manager, which knows the sessions of all
// users and so serves a service as well. It knows of a desktop what that tells it, and many
// never do: then its hint is "in use" from the log-in on, since when is 0, and it means nothing.
// Likewise a program that keeps the screen on makes it "in use".
func idleLogind(now time.Time) (time.Duration, error) {
	get := func(name string, into any) error {
		return property("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", name, into)
	}
	var idle bool
	if err := get("IdleHint", &idle); err != nil {
		return 0, err
	}
	var since uint64 // microseconds since 1970
	if err := get("IdleSinceHint", &since); err != nil {
		return 0, err
	}
	if idle {
		if since == 0 {
			return 0, errors.New("no user is logged in")
		}
		everIdle = true
		return now.Sub(time.UnixMicro(int64(min(since, 1<<62)))), nil
	}
	if since == 0 {
		return 0, errMute
	}
	var inhibited string
	if err := get("BlockInhibited", &inhibited); err == nil && !everIdle && slices.Contains(strings.Split(inhibited, ":"), "idle") {
		return 0, errMute
	}
	return 0, nil
}

// idleTerminals looks at when a terminal was last typed into.
func idleTerminals(now time.Time) (time.Duration, error) {
	newest := time.Time{}
	for _, pattern := range []string{"/dev/tty[0-9]*", "/dev/pts/[0-9]*"} {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			st, err := os.Stat(path)
			if err != nil {
				continue
			}
			if s, ok := st.Sys().(*syscall.Stat_t); ok {
				if at := time.Unix(s.Atim.Unix()); at.After(newest) && !at.After(now) {
					newest = at
				}
			}
		}
	}
	if newest.IsZero() {
		return 0, errors.New("no terminal")
	}
	return now.Sub(newest), nil
}

// metered asks NetworkManager whether the network costs by the byte.
//
// Source: NetworkManager D-Bus API, NMMetered.
func metered() prefs.Sense {
	var n uint32
	if err := property("org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager", "Metered", &n); err != nil {
		return prefs.Unknown
	}
	switch n {
	case 1, 3: // yes, and a guess that says yes
		return prefs.Yes
	case 2, 4:
		return prefs.No
	}
	return prefs.Unknown
}

// onBattery tells whether the computer runs on its battery. Without one there is
// no sensor.
//
// Source: Linux Documentation/ABI/testing/sysfs-class-power.
func onBattery() prefs.Sense { return powerSupplies("/sys/class/power_supply") }

func powerSupplies(dir string) prefs.Sense {
	known := prefs.Unknown
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		read := func(name string) string {
			b, _ := os.ReadFile(filepath.Join(dir, e.Name(), name))
			return strings.TrimSpace(string(b))
		}
		if read("type") != "Battery" || read("scope") == "Device" { // a mouse has one, too
			continue
		}
		if read("status") == "Discharging" {
			return prefs.Yes
		}
		known = prefs.No
	}
	return known
}
