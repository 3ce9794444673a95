// Package desktop senses the desktop session that this process belongs to: when there was input, and
// whether the screen is locked. It does not look at other sessions, terminals or the computer.
package desktop

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/starling-grid/starling/internal/bus"
	"github.com/starling-grid/starling/internal/wayland"
)

// These are the times for which a source that failed is left alone, and one that did not answer in time.
const (
	retry     = time.Minute
	retrySlow = 10 * time.Second
)

// away is the time without input after which sources watch for the return of people.
var away = 15 * time.Second // tests wait less

// A watch is an open source.
type watch interface {
	Idle(now time.Time) (time.Duration, error)
	Close() error
}

// A source is one way to sense input.
type source struct {
	name    string
	address func() string // of the program to ask, "" if it is missing in this session
	open    func(address string, returned func()) (watch, error)

	at     string // address that was used last
	watch  watch  // nil: not open
	failed time.Time
	err    error
}

// A Reading is the answer of a source.
type Reading struct {
	Source string
	Idle   time.Duration // without input
	Err    error         // the reason why the source does not work, nil if it does
	// Pushes reports that Returned receives when people return. Other sources must be asked often.
	Pushes bool
}

// A Session is the desktop session of this process. It is not for concurrent use.
type Session struct {
	Returned chan struct{} // receives when people return, and when a source ends
	sources  []*source
}

// New returns the session, of which nothing is read yet.
func New() *Session {
	return &Session{Returned: make(chan struct{}, 1), sources: []*source{
		{name: "Wayland", address: wayland.Socket, open: openWayland},
		{name: "GNOME", address: sessionBus, open: openMutter},
		{name: "X11", address: x11Display, open: openX11},
		{name: "KDE screen saver", address: sessionBus, open: openKDE},
	}}
}

func sessionBus() string { return os.Getenv("DBUS_SESSION_BUS_ADDRESS") }

// Idle returns the answer of the best source that works. The others may be wrong, as Xwayland sees
// only its own windows' input. If no source works, Err is the error of the best one, or
// context.DeadlineExceeded if one did not answer in time.
func (s *Session) Idle(now time.Time) Reading {
	failed := Reading{Err: errors.New("it is neither a Wayland nor an X11 session")}
	for _, x := range s.sources {
		r := s.read(x, now)
		if r.Err == nil {
			return r
		}
		if failed.Source == "" && !errors.Is(r.Err, errAbsent) || slow(r.Err) {
			failed = r
		}
	}
	return failed
}

// Readings returns the answers of all sources, best first.
func (s *Session) Readings(now time.Time) (all []Reading) {
	for _, x := range s.sources {
		all = append(all, s.read(x, now))
	}
	return all
}

// Retry makes Idle ask sources again that have just failed.
func (s *Session) Retry() {
	for _, x := range s.sources {
		x.failed = time.Time{}
	}
}

var errAbsent = errors.New("not in this session")

// slow reports whether a source did not answer in time. It may only be busy.
func slow(err error) bool { return errors.Is(err, context.DeadlineExceeded) }

func (s *Session) read(x *source, now time.Time) Reading {
	at := x.address()
	if at != x.at {
		x.close()
		x.at, x.failed = at, time.Time{}
	}
	if at == "" {
		return Reading{Source: x.name, Err: errAbsent}
	}
	pause := retry
	if slow(x.err) {
		pause = retrySlow
	}
	if !x.failed.IsZero() && now.Sub(x.failed).Abs() < pause {
		return Reading{Source: x.name, Err: x.err}
	}
	idle, err := x.ask(now, s.poke)
	x.failed, x.err = time.Time{}, err
	if err != nil {
		x.close()
		x.failed = now
		return Reading{Source: x.name, Err: err}
	}
	p, ok := x.watch.(interface{ Pushes() bool })
	return Reading{Source: x.name, Idle: max(0, idle), Pushes: ok && p.Pushes()}
}

func (x *source) ask(now time.Time, returned func()) (time.Duration, error) {
	if x.watch == nil {
		w, err := x.open(x.at, returned)
		if err != nil {
			return 0, err
		}
		x.watch = w
	}
	return x.watch.Idle(now)
}

func (x *source) close() {
	if x.watch != nil {
		_ = x.watch.Close()
		x.watch = nil
	}
}

func (s *Session) poke() {
	select {
	case s.Returned <- struct{}{}:
	default: // it is going to look anyway
	}
}

// Locked reports whether the screen of the session is locked, as far as logind is aware of it.
func Locked() bool {
	var locked bool
	err := bus.System.Property("org.freedesktop.login1", "/org/freedesktop/login1/session/auto", "org.freedesktop.login1.Session", "LockedHint", &locked)
	return err == nil && locked
}

// ID returns logind's name of the session, or "" if there is none.
func ID() string {
	var id string
	if bus.System.Property("org.freedesktop.login1", "/org/freedesktop/login1/session/auto", "org.freedesktop.login1.Session", "Id", &id) != nil {
		return os.Getenv("XDG_SESSION_ID")
	}
	return id
}
