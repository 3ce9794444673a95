package hostinfo

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/starling-grid/starling/agent/desktop"
	"github.com/starling-grid/starling/internal/bus"
	"github.com/starling-grid/starling/prefs"
)

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
	own       = desktop.New()
	sources   = []*source{
		{name: "logind", idle: idleLogind},
		{name: "terminals", idle: idleTerminals, terminal: true},
	}
)

// Idle returns for how long nobody has used the computer: the least that any of
// the sources that work here tells, and its name. ok is false when none does.
func Idle(now time.Time) (idle time.Duration, by string, ok bool) {
	for name, d := range askIdle(now) {
		if !ok || d < idle || d == idle && name < by {
			idle, by, ok = d, name, true
		}
	}
	return idle, by, ok
}

// IdleSources lists what tells here whether the computer is in use. All are asked, those too that
// have just failed.
func IdleSources() []string {
	sourcesMu.Lock()
	own.Retry()
	for _, s := range sources {
		s.failed = time.Time{}
	}
	sourcesMu.Unlock()
	return slices.Sorted(maps.Keys(askIdle(time.Now())))
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
	if r := own.Idle(now); r.Err == nil {
		seen, told[r.Source] = true, r.Idle
	}
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
	unseen = mute && !seen
	return told
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
		return bus.System.Property("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", name, into)
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
	if err := bus.System.Property("org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager", "Metered", &n); err != nil {
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
