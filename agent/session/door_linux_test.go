package session

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testbus"
	"github.com/starling-grid/starling/internal/testwait"
)

const good = `{"v":1,"idle":7,"source":"Wayland","session":"c2"}`

// served is the door of a data directory, on a computer whose logind has a session of uid.
func served(t *testing.T, open bool, logins ...login) (dir string, r *Roster) {
	t.Helper()
	bus := testbus.Start(t)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.Address)
	if logins != nil {
		bus.Serve("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", logind(logins))
	}
	dir, err := os.MkdirTemp("", "starling") //nolint:usetesting // the socket needs a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r = new(Roster)
	if err := Serve(t.Context(), dir, open, r, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return dir, r
}

// knock connects to the door.
func knock(t *testing.T, dir string) net.Conn {
	t.Helper()
	c, err := Dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// heard returns the agent's next answer, or an error once the agent has ended the connection.
func heard(t *testing.T, c net.Conn) (answer, error) {
	t.Helper()
	var a answer
	_ = c.SetReadDeadline(time.Now().Add(testwait.Patience))
	b := make([]byte, maxReport)
	n, err := c.Read(b)
	if err == nil {
		err = json.Unmarshal(b[:n], &a)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return a, err
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// A helper is let in, its reports count, and it is forgotten as soon as it dies.
func TestAHelperReports(t *testing.T) {
	for name, logins := range map[string][]login{
		"without logind": nil,
		"with a session": {{ID: "c2", UID: uint32(os.Getuid()), User: "anna", Seat: "seat0", Path: "/s/c2"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, r := served(t, true, logins...)
			c := knock(t, dir)
			send(t, c, good)
			if a, err := heard(t, c); err != nil || a.Error != "" {
				t.Fatalf("got %+v, %v", a, err)
			}
			idle, by, ok := r.Idle(time.Now())
			if !ok || idle < 7*time.Second || idle > time.Minute || !strings.Contains(by, "(Wayland)") {
				t.Errorf("got %v, %s, %v", idle, by, ok)
			}
			_ = c.Close()
			testwait.Until(t, "the dead helper to be forgotten", func() bool { _, _, ok := r.Idle(time.Now()); return !ok })
		})
	}
}

// A user without a session is refused, with the reason.
func TestAStrangerIsRefused(t *testing.T) {
	dir, r := served(t, true, login{ID: "c2", UID: 4_000_000, User: "bob", Seat: "seat0", Path: "/s/c2"})
	c := knock(t, dir)
	send(t, c, good)
	if a, err := heard(t, c); err != nil || !strings.Contains(a.Error, "is not logged in at this computer; run the helper in a desktop session") {
		t.Errorf("got %+v, %v", a, err)
	}
	if _, err := heard(t, c); err == nil {
		t.Error("the connection goes on")
	}
	if _, _, ok := r.Idle(time.Now()); ok {
		t.Error("the report counts")
	}
}

// An invalid report ends its own connection and leaves the others open.
func TestGarbageEndsOneConnection(t *testing.T) {
	dir, r := served(t, true)
	honest := knock(t, dir)
	send(t, honest, good)
	if _, err := heard(t, honest); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"\x00\xff", `{"v":1,`, strings.Repeat("x", 10*maxReport), `{"v":1,"idle":0,"source":"X11","suspend":true}`} {
		c := knock(t, dir)
		send(t, c, text)
		if a, err := heard(t, c); err != nil || a.Error == "" {
			t.Errorf("%.20q: got %+v, %v", text, a, err)
		}
		if _, err := heard(t, c); err == nil {
			t.Errorf("%.20q: the connection goes on", text)
		}
		_ = c.Close()
	}
	send(t, honest, `{"v":1,"idle":99,"source":"Wayland"}`)
	testwait.Until(t, "the honest helper's report", func() bool { idle, _, _ := r.Idle(time.Now()); return idle >= 99*time.Second })
}

// A flood ends its connection.
func TestAFloodOfReports(t *testing.T) {
	dir, _ := served(t, true)
	c := knock(t, dir)
	for range 2 * reportsAtOnce {
		if _, err := c.Write([]byte(good)); err != nil {
			break // the agent has ended it
		}
	}
	if _, err := heard(t, c); err != nil {
		t.Fatal(err)
	}
	if a, err := heard(t, c); err != nil || !strings.Contains(a.Error, "too often") {
		t.Errorf("got %+v, %v", a, err)
	}
}

// Of fifty helpers the agent accepts a few, and refuses the others with a reason.
func TestFiftyHelpers(t *testing.T) {
	dir, r := served(t, true)
	refused := 0
	for range 50 {
		c := knock(t, dir)
		_, _ = c.Write([]byte(good)) // the agent may have refused it already
		a, err := heard(t, c)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(a.Error, "connected already") {
			refused++
		}
	}
	if refused != 50-maxPerUser || len(r.Lines(time.Now())) != maxPerUser {
		t.Errorf("%d were refused, and these report: %q", refused, r.Lines(time.Now()))
	}
}

// A user whose programs connect without end does not keep the helpers of others away.
func TestAFloodOfConnections(t *testing.T) {
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unixpacket"})
	if err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var hostile atomic.Bool
	hostile.Store(true)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		accept(ctx, l, &door{
			roster: new(Roster), log: slog.New(slog.DiscardHandler),
			person: func(uid int, _ string) (Person, error) { return Person{UID: uid}, nil },
			caller: func(net.Conn) (int, bool) {
				if hostile.Load() {
					return 1, true
				}
				return 2, true
			},
		})
	}()
	defer func() { <-ended }()
	defer l.Close()
	defer cancel()
	dial := func() (net.Conn, error) {
		return (&net.Dialer{}).DialContext(t.Context(), "unixpacket", l.Addr().String())
	}
	closed := 0
	for closed < 10_000 {
		c, err := dial()
		if err != nil {
			continue // the queue is full
		}
		_ = c.Close()
		closed++
	}
	var c net.Conn
	testwait.Until(t, "a connection that is closed at once", func() bool { // all before it have been seen
		if c, err = dial(); err != nil {
			return false
		}
		defer c.Close()
		_ = c.SetReadDeadline(time.Now().Add(testwait.Patience))
		_, err := c.Read(make([]byte, maxReport))
		return errors.Is(err, io.EOF)
	})
	hostile.Store(false)
	if c, err = dial(); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	send(t, c, good)
	if a, err := heard(t, c); err != nil || a.Error != "" {
		t.Errorf("another user: got %+v, %v", a, err)
	}
}

// The limits are of each user, and the agent does not remember all users forever.
func TestLimitsOfUsers(t *testing.T) {
	var l limits
	for range connectionsAtOnce {
		l.of(1).Allow()
	}
	if l.of(1).Allow() || !l.of(2).Allow() {
		t.Error("the limit is not of each user")
	}
	for uid := range 10 * maxUsers {
		l.of(uid)
	}
	if len(l) > maxUsers {
		t.Errorf("%d users are remembered", len(l))
	}
}

// The socket is open to all users only if the agent serves the whole computer. A socket of an
// earlier agent is replaced.
func TestWhoMayConnect(t *testing.T) {
	for open, want := range map[bool]os.FileMode{false: 0o600, true: 0o666} {
		dir, _ := served(t, open)
		for range 2 {
			if err := Serve(t.Context(), dir, open, new(Roster), slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
		}
		st, err := os.Stat(filepath.Join(dir, SocketName))
		if err != nil || st.Mode()&os.ModeSocket == 0 || st.Mode().Perm() != want {
			t.Errorf("got %v, %v; want a socket with %v", st.Mode(), err, want)
		}
	}
}
