package poweroff

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/starling-grid/starling/internal/beat"
	"github.com/starling-grid/starling/internal/sdnotify"
)

// timeout is the maximum time that logind may take to answer. retry is the time between two
// attempts to reach it.
const (
	timeout = 10 * time.Second
	retry   = time.Minute
)

// Context returns a context that ends with parent, and also when the computer is about to shut
// down. The caller then stops its tasks and calls release, which lets the shutdown proceed. logind
// waits for that no longer than InhibitDelayMaxSec in logind.conf(5), 5 seconds by default.
//
// Without logind the context ends only with parent, and the log has one line about that.
func Context(parent context.Context, log *slog.Logger) (ctx context.Context, release func()) {
	if sdnotify.Managed() {
		return parent, func() {}
	}
	return delayed(parent, log, retry)
}

// delayed is Context for a process that needs a delay. The lock is held until release, even if
// parent has ended: tasks may still be stopping.
func delayed(parent context.Context, log *slog.Logger, retry time.Duration) (ctx context.Context, release func()) {
	ctx, announce := context.WithCancel(parent)
	locked, end := context.WithCancel(context.WithoutCancel(parent))
	ended := make(chan struct{})
	l := &lock{log, announce}
	go func() {
		defer close(ended)
		l.keep(locked, retry)
	}()
	return ctx, func() {
		end()
		<-ended
		announce()
	}
}

// A lock delays a shutdown.
type lock struct {
	log      *slog.Logger
	announce func() // called when the computer is about to shut down
}

// keep holds the lock until ctx ends, and takes it again after the bus was restarted. It logs an
// error once, however often that is repeated.
func (l *lock) keep(ctx context.Context, retry time.Duration) {
	logged := ""
	for {
		err := l.hold(ctx)
		if ctx.Err() != nil {
			return
		}
		if err.Error() != logged {
			logged = err.Error()
			l.log.Log(ctx, level(err), "a shutdown of the computer would not wait for tasks to stop", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(beat.Next(time.Now(), retry))):
		}
	}
}

// level returns the level at which an error is logged. To run without a system bus is common, for
// example in a container.
func level(err error) slog.Level {
	if _, answered := errors.AsType[dbus.Error](err); answered || errors.Is(err, errLost) {
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

var errLost = errors.New("the connection to the system's message bus was lost")

const (
	name    = "org.freedesktop.login1"
	path    = "/org/freedesktop/login1"
	manager = "org.freedesktop.login1.Manager"
	signal  = "PrepareForShutdown"
)

// hold takes the lock and holds it until ctx ends or the bus is lost. Between an announced shutdown
// and the end of ctx it also holds the lock without the bus, which may stop before the tasks do.
//
// The connection is not shared, because others are closed when any program does not answer.
//
// Source: org.freedesktop.login1(5), https://systemd.io/INHIBITOR_LOCKS.
func (l *lock) hold(ctx context.Context) error {
	conn, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return err
	}
	defer conn.Close()
	asked, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	signals := make(chan *dbus.Signal, 8)
	conn.Signal(signals)
	if err := conn.AddMatchSignalContext(asked, dbus.WithMatchSender(name), dbus.WithMatchInterface(manager), dbus.WithMatchMember(signal)); err != nil {
		return err
	}
	var fd dbus.UnixFD // the lock lasts until it is closed
	if err := conn.Object(name, path).CallWithContext(asked, manager+".Inhibit", dbus.FlagNoAutoStart, "shutdown", "Starling", "Running tasks are stopped first", "delay").Store(&fd); err != nil {
		return err
	}
	defer func() { _ = os.NewFile(uintptr(fd), "inhibitor").Close() }() //nolint:gosec // descriptors are not negative
	for s := range signals {
		if !announces(s) {
			continue
		}
		if sender := owner(ctx, conn); s.Sender != sender {
			l.log.Debug("ignoring a program that announces a shutdown and is not logind", "sender", s.Sender)
			continue
		}
		l.log.Info("the computer is shutting down; stopping first")
		l.announce()
		<-ctx.Done()
		return nil
	}
	return errLost
}

// announces reports whether a signal announces a shutdown. logind also sends it, with false, when
// a shutdown does not happen after all.
func announces(s *dbus.Signal) bool {
	var starts bool
	return s.Name == manager+"."+signal && s.Path == path && dbus.Store(s.Body, &starts) == nil && starts
}

// owner returns logind's address on the bus. Every program may send a signal of any name to one
// receiver.
func owner(ctx context.Context, conn *dbus.Conn) (address string) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetNameOwner", 0, name).Store(&address) != nil {
		return "unknown"
	}
	return address
}
