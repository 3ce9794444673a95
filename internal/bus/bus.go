// Package bus asks other programs over D-Bus. Connections are kept: to open one for each
// question takes many messages, each of which wakes this process.
package bus

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

// The maximum times that another program may take to answer, and to start and answer.
const (
	timeout      = 2 * time.Second
	startTimeout = 20 * time.Second
)

// A Bus is a message bus. It may be used concurrently.
type Bus struct {
	open    func(...dbus.ConnOption) (*dbus.Conn, error)
	address string        // variable of the environment that names it
	wait    time.Duration // for a connection (0: timeout)

	mu   sync.Mutex
	conn *dbus.Conn
	at   string // that conn leads to
}

// System and Session are the buses of the computer and of the user's session. Notices is a second
// connection to the session's bus, for programs that may take long to answer: a connection handles one
// call at a time.
var (
	System  = &Bus{open: dbus.ConnectSystemBus, address: "DBUS_SYSTEM_BUS_ADDRESS"}
	Session = &Bus{open: session, address: "DBUS_SESSION_BUS_ADDRESS"}
	Notices = &Bus{open: session, address: "DBUS_SESSION_BUS_ADDRESS"}
)

// session opens the bus of the user's session if there is one. It does not start a bus.
func session(opts ...dbus.ConnOption) (*dbus.Conn, error) {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
		return nil, errors.New("no session bus")
	}
	return dbus.ConnectSessionBus(opts...)
}

// Call calls a method of another program that is already running, and stores its answer.
func (b *Bus) Call(dest string, path dbus.ObjectPath, method string, into any, args ...any) error {
	return b.call(timeout, dbus.FlagNoAutoStart, dest, path, method, into, args)
}

// Start does the same with a program that the bus starts if it is not running.
func (b *Bus) Start(dest string, path dbus.ObjectPath, method string, into any, args ...any) error {
	return b.call(startTimeout, 0, dest, path, method, into, args)
}

func (b *Bus) call(timeout time.Duration, flags dbus.Flags, dest string, path dbus.ObjectPath, method string, into any, args []any) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.connect(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	err := b.conn.Object(dest, path).CallWithContext(ctx, method, flags, args...).Store(into)
	if told := (dbus.Error{}); err != nil && !errors.As(err, &told) {
		b.close()
	}
	return err
}

// Property asks for a property.
func (b *Bus) Property(dest string, path dbus.ObjectPath, iface, name string, into any) error {
	var v dbus.Variant
	if err := b.Call(dest, path, "org.freedesktop.DBus.Properties.Get", &v, iface, name); err != nil {
		return err
	}
	return v.Store(into)
}

// Signals sends the signals of an interface of another program to c, until the connection ends.
func (b *Bus) Signals(dest, iface string, c chan<- *dbus.Signal) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.connect(); err != nil {
		return err
	}
	b.conn.Signal(c)
	return b.conn.AddMatchSignal(dbus.WithMatchSender(dest), dbus.WithMatchInterface(iface))
}

func (b *Bus) connect() error {
	at := os.Getenv(b.address)
	if b.conn != nil && b.conn.Connected() && at == b.at {
		return nil
	}
	b.close()
	ctx, cancel := context.WithCancel(context.Background()) // of the connection, which ends with it
	late := time.AfterFunc(cmp.Or(b.wait, timeout), cancel)
	c, err := b.open(dbus.WithContext(ctx))
	if !late.Stop() && err == nil {
		_ = c.Close()
		err = context.DeadlineExceeded
	}
	if err != nil {
		cancel()
		return err
	}
	b.conn, b.at = c, at
	return nil
}

func (b *Bus) close() {
	if b.conn != nil {
		_ = b.conn.Close()
		b.conn = nil
	}
}
