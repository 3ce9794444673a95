// Package sdnotify reports to systemd that a service is ready, alive or stopping, as
// sd_notify(3) does. Without systemd it does nothing.
package sdnotify

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/starling-grid/starling/internal/beat"
)

// Managed reports whether systemd runs this process as a service and waits for its reports.
func Managed() bool { return os.Getenv("NOTIFY_SOCKET") != "" }

// Send sends a state, such as READY=1, to the manager that started this process. Without one
// it returns nil.
func Send(state string) error {
	name := os.Getenv("NOTIFY_SOCKET") // one that starts with @ is abstract, for net as well
	if name == "" {
		return nil
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(state)); err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	return nil
}

// Watchdog returns the time after which the manager kills this process unless it reports that it is
// alive, or 0 if the manager does not watch it.
func Watchdog() time.Duration {
	if pid := os.Getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0 // it is the parent's
	}
	micros, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || micros <= 0 || !Managed() {
		return 0
	}
	return time.Duration(micros) * time.Microsecond
}

// Report reports that the service is ready when alive has returned nil once, that it is alive each
// time it returns nil again, twice within the watchdog's time, and that it is stopping when ctx
// ends. alive may block until its context ends. The caller calls done when the service has stopped,
// so that the manager does not take a slow end for a hang.
func Report(ctx context.Context, log *slog.Logger, alive func(context.Context) error) (done func()) {
	if !Managed() {
		return func() {}
	}
	stopped := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		report(ctx, stopped, log, alive)
	}()
	return func() {
		close(stopped)
		<-ended
	}
}

// retry is the time until alive is called again after an error, before the service was ready.
const retry = time.Second

func report(ctx context.Context, stopped <-chan struct{}, log *slog.Logger, alive func(context.Context) error) {
	send := func(state string) {
		if err := Send(state); err != nil {
			log.Warn("systemd was not notified", "err", err)
		}
	}
	limit := Watchdog()
	ready := false
	stopping := ctx.Done()
	for {
		wait := retry
		switch err := asked(ctx, limit/2, alive); {
		case ctx.Err() != nil: // it stops, which may take its time
			send("WATCHDOG=1")
		case err != nil:
			log.Debug("the service does not answer itself", "err", err)
		case ready:
			send("WATCHDOG=1")
		default:
			ready = true
			send("READY=1\nWATCHDOG=1")
		}
		var again <-chan time.Time
		if ready || ctx.Err() != nil {
			wait = limit / 2
		}
		if wait > 0 {
			again = time.After(time.Until(beat.Next(time.Now(), wait)))
		}
		select {
		case <-stopped:
			return
		case <-stopping:
			stopping = nil
			send("STOPPING=1")
		case <-again:
		}
	}
}

// asked calls alive, for as long as limit unless that is 0.
func asked(ctx context.Context, limit time.Duration, alive func(context.Context) error) error {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return alive(ctx)
}
