package desktop

import (
	"sync/atomic"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/starling-grid/starling/internal/bus"
)

// mutter is the idle monitor of GNOME's compositor.
type mutter struct {
	returned  func()
	listening atomic.Bool // to its signals
	watched   atomic.Bool // it is going to report the return of people
	pushes    bool
}

const (
	mutterName = "org.gnome.Mutter.IdleMonitor"
	mutterPath = "/org/gnome/Mutter/IdleMonitor/Core"
)

func openMutter(_ string, returned func()) (watch, error) {
	return &mutter{returned: returned}, nil
}

// Pushes reports whether it reports the return of people.
func (m *mutter) Pushes() bool { return m.pushes }

// Idle asks it. While people are away it is asked to report their return, which it does once.
func (m *mutter) Idle(time.Time) (time.Duration, error) {
	var ms uint64
	if err := bus.Session.Call(mutterName, mutterPath, mutterName+".GetIdletime", &ms); err != nil {
		return 0, err
	}
	idle := time.Duration(min(ms, 1<<40)) * time.Millisecond
	switch {
	case idle < away:
		m.watched.Store(false) // one that was lost with its program, too
	case !m.watched.Load():
		m.pushes = m.listen()
	}
	return idle, nil
}

func (m *mutter) listen() bool {
	if !m.listening.Load() {
		signals := make(chan *dbus.Signal, 8)
		if bus.Session.Signals(mutterName, mutterName, signals) != nil {
			return false
		}
		m.listening.Store(true)
		go m.follow(signals)
	}
	var id uint32
	if bus.Session.Call(mutterName, mutterPath, mutterName+".AddUserActiveWatch", &id) != nil {
		return false
	}
	m.watched.Store(true)
	return true
}

// follow waits for signals until the connection ends, which closes the channel.
func (m *mutter) follow(signals <-chan *dbus.Signal) {
	for s := range signals {
		if s.Name == mutterName+".WatchFired" {
			m.watched.Store(false)
			m.returned()
		}
	}
	m.listening.Store(false)
	m.watched.Store(false)
}

// Close forgets it: the connection is shared.
func (m *mutter) Close() error { return nil }

// kde is the screen saver of KDE on X11. Other desktops use other units.
type kde struct{}

func openKDE(string, func()) (watch, error) { return kde{}, nil }

// Idle asks it.
func (kde) Idle(time.Time) (time.Duration, error) {
	var ms uint32
	err := bus.Session.Call("org.kde.screensaver", "/org/freedesktop/ScreenSaver", "org.freedesktop.ScreenSaver.GetSessionIdleTime", &ms)
	return time.Duration(ms) * time.Millisecond, err
}

// Close has nothing to do.
func (kde) Close() error { return nil }
