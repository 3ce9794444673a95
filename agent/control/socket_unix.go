//go:build unix

package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// SocketName is the socket's name in the data directory.
const SocketName = "control.sock"

// maxSocketPath is what the least system allows for a socket's path.
const maxSocketPath = 103

func dial(ctx context.Context, dataDir string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dataDir, SocketName))
}

// admission says what a user can do whom the agent does not obey.
func admission(string) string { return "try again with sudo" }

// listen makes the socket, which others than the agent's user may connect to as far
// as open says. One that an earlier agent left behind is replaced.
func listen(ctx context.Context, dataDir string, open bool) (net.Listener, error) {
	path := filepath.Join(dataDir, SocketName)
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("control socket %s: the path is longer than %d bytes; choose a shorter --data", path, maxSocketPath)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	mode := os.FileMode(0o600)
	if open {
		mode = 0o666 // all may knock; who may come in, and why others may not, is said inside
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, fmt.Errorf("control socket: %w", errors.Join(err, l.Close()))
	}
	return l, nil
}
