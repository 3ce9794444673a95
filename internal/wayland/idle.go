// Package wayland asks a Wayland compositor when there was input, by the protocol
// ext-idle-notify-v1. It is a client for that alone: it shows nothing and receives no input.
package wayland

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// threshold is the time without input after which the compositor reports it. It sends nothing more
// until there is input again.
const (
	thresholdMS = 15_000
	threshold   = thresholdMS * time.Millisecond
)

// patience is the maximum time that a compositor may take to describe itself.
const patience = 2 * time.Second

// maxSeats is the maximum number of groups of keyboards and mice at the start, and maxObject the last
// object: seats may come and go.
const (
	maxSeats  = 8
	maxObject = 1000
)

// The objects of a connection. Two more follow for each seat, without gaps, since compositors
// refuse gaps.
const (
	display uint32 = 1 + iota
	registry
	callback
	notifier
)

// ErrNoNotifier is the error for a compositor without the protocol.
var ErrNoNotifier = errors.New("the compositor does not offer ext_idle_notifier_v1")

// A Monitor watches one compositor. It may be used concurrently.
type Monitor struct {
	conn     net.Conn
	returned func()

	version uint32 // of the notifier
	last    uint32 // object

	mu    sync.Mutex
	seats map[uint32]seat // by the number of the global
	err   error           // the connection has ended
}

// A seat is a group of keyboards, mice and the like.
type seat struct {
	notification uint32
	since        time.Time // the start of the time without input, zero if there was input lately
}

// Socket returns the path of the compositor's socket, "" if this process is in no Wayland session.
func Socket() string {
	name := os.Getenv("WAYLAND_DISPLAY")
	if dir := os.Getenv("XDG_RUNTIME_DIR"); name != "" && !filepath.IsAbs(name) {
		if dir == "" {
			return ""
		}
		name = filepath.Join(dir, name)
	}
	return name
}

// Watch asks the compositor at the other end of conn to report when people leave and return. It
// takes over conn. It calls returned when somebody returns and when the connection ends. returned
// must not block.
func Watch(conn net.Conn, returned func()) (*Monitor, error) {
	w := &Monitor{conn: conn, returned: returned, last: notifier, seats: make(map[uint32]seat)}
	err := conn.SetDeadline(time.Now().Add(patience))
	if err == nil {
		err = w.begin()
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	go w.follow()
	return w, nil
}

// Close ends the connection.
func (w *Monitor) Close() error { return w.conn.Close() }

// Idle returns the time without input: 0 until it is longer than a few seconds.
func (w *Monitor) Idle(now time.Time) (idle time.Duration, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return 0, w.err
	case len(w.seats) == 0:
		return 0, errors.New("the compositor has no keyboard or mouse")
	}
	first := true
	for _, s := range w.seats {
		d := time.Duration(0)
		if !s.since.IsZero() {
			d = max(0, now.Sub(s.since))
		}
		if first || d < idle {
			idle, first = d, false
		}
	}
	return idle, nil
}

func (w *Monitor) send(object uint32, opcode uint16, body []byte) error {
	_, err := w.conn.Write(message{object, opcode, body}.bytes())
	return err
}

// begin reads the compositor's list of interfaces and asks for notifications.
//
// Source: wayland.xml, ext-idle-notify-v1.xml.
func (w *Monitor) begin() error {
	const getRegistry, sync, done = 1, 0, 0
	err := w.send(display, getRegistry, number(nil, registry))
	if err == nil {
		err = w.send(display, sync, number(nil, callback))
	}
	if err != nil {
		return err
	}
	var buf [maxMessage]byte
	var found uint32
	var seats []uint32
	for {
		m, err := read(w.conn, &buf)
		if err != nil {
			return err
		}
		a := arguments{rest: m.body}
		switch {
		case m.object == callback && m.opcode == done:
			return w.ask(found, seats)
		case m.object == registry && m.opcode == global:
			name, kind, v := a.number(), a.text(), a.number()
			switch {
			case a.err != nil:
				return a.err
			case kind == "ext_idle_notifier_v1":
				found, w.version = name, min(v, 2)
			case kind == "wl_seat" && len(seats) < maxSeats:
				seats = append(seats, name)
			}
		case m.object == display && m.opcode == fault:
			return refusal(a)
		}
	}
}

// The events of wl_registry and wl_display.
const (
	global, globalRemove = 0, 1
	fault                = 0
)

func (w *Monitor) ask(found uint32, seats []uint32) error {
	if w.version == 0 {
		return ErrNoNotifier
	}
	err := w.bind(found, "ext_idle_notifier_v1", w.version, notifier)
	for i := 0; i < len(seats) && err == nil; i++ {
		err = w.attend(seats[i])
	}
	return err
}

func (w *Monitor) bind(name uint32, kind string, version, id uint32) error {
	const bind = 0
	return w.send(registry, bind, number(number(text(number(nil, name), kind), version), id))
}

// attend asks for the notifications of a seat. Where the compositor can, a program that keeps the
// screen on does not count as input.
func (w *Monitor) attend(name uint32) error {
	opcode := uint16(1) // get_idle_notification
	if w.version >= 2 {
		opcode = 2 // get_input_idle_notification
	}
	id, notification := w.last+1, w.last+2
	w.last = notification
	if err := w.bind(name, "wl_seat", 1, id); err != nil {
		return err
	}
	w.mu.Lock()
	w.seats[name] = seat{notification: notification}
	w.mu.Unlock()
	return w.send(notifier, opcode, number(number(number(nil, notification), thresholdMS), id))
}

// follow records the compositor's reports until the connection ends.
func (w *Monitor) follow() {
	var buf [maxMessage]byte
	for {
		m, err := read(w.conn, &buf)
		if err == nil {
			err = w.note(m, time.Now())
		}
		if err != nil {
			w.mu.Lock()
			w.err = fmt.Errorf("the connection to the compositor has ended: %w", err)
			w.mu.Unlock()
			_ = w.conn.Close()
			w.returned()
			return
		}
	}
}

func (w *Monitor) note(m message, now time.Time) error {
	a := arguments{rest: m.body}
	switch {
	case m.object == display && m.opcode == fault:
		return refusal(a)
	case m.object == registry && m.opcode == global:
		if name, kind := a.number(), a.text(); a.err == nil && kind == "wl_seat" && w.last < maxObject {
			return w.attend(name)
		}
	case m.object == registry && m.opcode == globalRemove:
		name := a.number()
		w.mu.Lock()
		delete(w.seats, name)
		w.mu.Unlock()
	case m.object > notifier:
		w.change(m, now)
	}
	return a.err
}

// change notes that people have left a seat or returned to it.
func (w *Monitor) change(m message, now time.Time) {
	const idled = 0
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, s := range w.seats {
		if s.notification != m.object {
			continue
		}
		s.since = time.Time{}
		if m.opcode == idled {
			s.since = now.Add(-threshold)
		} else {
			w.returned()
		}
		w.seats[name] = s
	}
}

// refusal returns the error that a compositor reports.
func refusal(a arguments) error {
	a.number()
	code, why := a.number(), a.text()
	if a.err != nil {
		return a.err
	}
	return fmt.Errorf("error %d: %.200q", code, why)
}
