//go:build unix

package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/starling-grid/starling/internal/words"
)

// SocketName is the socket's name in the data directory.
const SocketName = "control.sock"

// maxSocketPath is the lowest limit of any system on the length of a socket's path.
const maxSocketPath = 103

func dial(ctx context.Context, dataDir string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dataDir, SocketName))
}

// admission returns the remedy for a user whose requests the agent refuses.
func admission(string) words.Text { return words.T("try again with sudo") }

// listen makes the socket. With open, other users than the agent's may connect to it. A socket that
// an earlier agent left behind is replaced.
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
		mode = 0o666 // all may connect: admit checks the user and gives the reason of a refusal
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, fmt.Errorf("control socket: %w", errors.Join(err, l.Close()))
	}
	return l, nil
}
