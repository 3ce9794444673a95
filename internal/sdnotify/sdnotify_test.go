//go:build unix

package sdnotify_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/sdnotify"
)

// A manager is systemd's end of the socket.
type manager struct {
	t *testing.T
	c *net.UnixConn
}

func newManager(t *testing.T) manager {
	t.Helper()
	dir, err := os.MkdirTemp("", "sd-") //nolint:usetesting // short, as addresses of sockets have to be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	name := filepath.Join(dir, "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	t.Setenv("NOTIFY_SOCKET", name)
	return manager{t, c}
}

// told returns the service's next report, or "" if none arrives within a time.
func (m manager) told(within time.Duration) string {
	m.t.Helper()
	if err := m.c.SetReadDeadline(time.Now().Add(within)); err != nil {
		m.t.Fatal(err)
	}
	b := make([]byte, 1000)
	n, _, err := m.c.ReadFrom(b)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		m.t.Fatal(err)
	}
	return string(b[:n])
}

const long = 10 * time.Second

func TestReport(t *testing.T) {
	m := newManager(t)
	t.Setenv("WATCHDOG_USEC", "200000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	ctx, cancel := context.WithCancel(t.Context())
	var hangs atomic.Bool
	hangs.Store(true)
	done := sdnotify.Report(ctx, slog.New(slog.DiscardHandler), func(ctx context.Context) error {
		if hangs.Load() {
			<-ctx.Done()
		}
		return ctx.Err()
	})
	if got := m.told(300 * time.Millisecond); got != "" {
		t.Errorf("before it answers, the service reports %q", got)
	}
	hangs.Store(false)
	for _, want := range []string{"READY=1\nWATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"} {
		if got := m.told(long); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	hangs.Store(true)
	for m.told(500*time.Millisecond) != "" { // earlier reports
	}
	if got := m.told(500 * time.Millisecond); got != "" {
		t.Errorf("a service that hangs reports %q", got)
	}
	cancel()
	for got := ""; got != "STOPPING=1"; {
		if got = m.told(long); got == "" {
			t.Fatal("it does not report that it is stopping")
		}
	}
	if got := m.told(long); got != "WATCHDOG=1" {
		t.Errorf("while it stops, it reports %q", got)
	}
	done()
	for m.told(300*time.Millisecond) != "" {
	}
	if got := m.told(300 * time.Millisecond); got != "" {
		t.Errorf("after its end it reports %q", got)
	}
}

func TestWithoutWatchdog(t *testing.T) {
	m := newManager(t)
	t.Setenv("WATCHDOG_USEC", "")
	ctx, cancel := context.WithCancel(t.Context())
	done := sdnotify.Report(ctx, slog.New(slog.DiscardHandler), func(context.Context) error { return nil })
	if got := m.told(long); got != "READY=1\nWATCHDOG=1" {
		t.Errorf("got %q", got)
	}
	cancel()
	if got := m.told(long); got != "STOPPING=1" {
		t.Errorf("got %q", got)
	}
	done()
}

func TestWithoutSystemd(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "1000")
	if err := sdnotify.Send("READY=1"); err != nil {
		t.Error(err)
	}
	if d := sdnotify.Watchdog(); d != 0 {
		t.Errorf("the watchdog's time is %v", d)
	}
	sdnotify.Report(t.Context(), nil, nil)()

	t.Setenv("NOTIFY_SOCKET", "/nowhere/notify")
	if err := sdnotify.Send("READY=1"); err == nil {
		t.Error("a socket that is not there takes what is sent")
	}
	t.Setenv("WATCHDOG_PID", "1")
	if d := sdnotify.Watchdog(); d != 0 {
		t.Errorf("the parent's watchdog counts here: %v", d)
	}
}
