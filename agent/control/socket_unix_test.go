//go:build unix

package control_test

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/starling-grid/starling/agent/control"
)

func TestWhoMayOpenTheSocket(t *testing.T) {
	forAll := os.FileMode(0o600)
	if runtime.GOOS == "linux" {
		forAll = 0o666 // the system identifies the caller
	}
	for group, want := range map[string]os.FileMode{"": 0o600, "starling": forAll} {
		dir := dataDir(t)
		if err := control.Serve(t.Context(), dir, group, &agent{}, control.Local{}, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(filepath.Join(dir, control.SocketName))
		if err != nil || st.Mode()&os.ModeSocket == 0 || st.Mode().Perm() != want {
			t.Errorf("for group %q: got %v, %v; want a socket with %v", group, st.Mode(), err, want)
		}
		if err := control.NewClient(dir).Reach(t.Context()); err != nil {
			t.Errorf("the agent's own user: %v", err)
		}
	}
}

func TestEndAndStaleSocket(t *testing.T) {
	dir := dataDir(t)
	path := filepath.Join(dir, control.SocketName)
	// An agent that was killed leaves a socket without a listener.
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	c := control.NewClient(dir)
	if err := c.Reload(t.Context()); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("stale socket: got %v, want ErrNotRunning", err)
	}
	a := &agent{}
	serve(t, dir, a)
	if err := c.Reload(t.Context()); err != nil || a.reloads != 1 {
		t.Errorf("after a start: %v, %d reloads", err, a.reloads)
	}
}
