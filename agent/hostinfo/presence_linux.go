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

// retry is the time for which a source that failed is not asked again.
const retry = time.Minute

// A source reports the time since the last input.
type source struct {
	name string
	idle func(now time.Time) (time.Duration, error)

	terminal bool // it reports only terminals, not desktops

	failed time.Time
}

var (
	sourcesMu sync.Mutex
	unseen    bool // the last answer of Unseen
	own       = desktop.New()
	sources   = []*source{
		{name: "logind", idle: idleLogind},
		{name: "terminals", idle: idleTerminals, terminal: true},
	}
)

// Idle returns the time since the computer was last used: the shortest time that any working source
// reports, with its name. ok is false if no source works.
func Idle(now time.Time) (idle time.Duration, by string, ok bool) {
	for name, d := range askIdle(now) {
		if !ok || d < idle || d == idle && name < by {
			idle, by, ok = d, name, true
		}
	}
	return idle, by, ok
}

// IdleSources lists the sources that report whether the computer is in use. It asks all of them,
// including those that have just failed.
func IdleSources() []string {
	sourcesMu.Lock()
	own.Retry()
	for _, s := range sources {
		s.failed = time.Time{}
	}
	sourcesMu.Unlock()
	return slices.Sorted(maps.Keys(askIdle(time.Now())))
}

// Unseen reports whether somebody is logged in at a desktop that does not report when it is used,
// as of the last call of Idle. In that case Idle covers only terminals.
func Unseen() bool {
	sourcesMu.Lock()
	defer sourcesMu.Unlock()
	return unseen
}

func askIdle(now time.Time) map[string]time.Duration {
	sourcesMu.Lock()
	defer sourcesMu.Unlock()
	told := make(map[string]time.Duration)
	mute, seen := false, false // about desktops
	if r := own.Idle(now); r.Err == nil {
		seen, told[r.Source] = true, r.Idle
	}
	for _, s := range sources {
		if !s.failed.IsZero() && now.Sub(s.failed).Abs() < retry {
			continue
		}
		d, err := s.idle(now)
		if errors.Is(err, errMute) { // the source works, and may have an answer next time
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

// errMute means that logind has sessions that have never reported whether they are idle.
var errMute = errors.New("a desktop does not report to logind when it is used")

// everIdle reports whether logind has called the computer idle since this process started.
var everIdle bool // guarded by sourcesMu

// idleLogind asks the system's login manager. That has the sessions of all users, so it also works
// for a service. It only has the reports of desktops, and many never report: then its hint is "in
// use" since 0, from the login on, which is meaningless. The hint is also "in use" while a program
// keeps the screen on.
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

// idleTerminals returns the time since the last input at a terminal.
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

// metered asks NetworkManager whether the network is billed by volume.
//
// Source: NetworkManager D-Bus API, NMMetered.
func metered() prefs.Sense {
	var n uint32
	if err := bus.System.Property("org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager", "Metered", &n); err != nil {
		return prefs.Unknown
	}
	switch n {
	case 1, 3: // yes, and probably yes
		return prefs.Yes
	case 2, 4:
		return prefs.No
	}
	return prefs.Unknown
}

// onBattery reports whether the computer runs on its battery. A computer without a battery has no
// sensor.
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
