package control

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/Microsoft/go-winio"
)

// admitted lets in whoever runs the agent, the system and administrators, and
// nobody over the network.
const admitted = "D:P(D;;GA;;;NU)(A;;GA;;;OW)(A;;GA;;;SY)(A;;GA;;;BA)"

// pipe is the name of the pipe that belongs to a data directory.
func pipe(dataDir string) (string, error) {
	path, err := filepath.Abs(dataDir)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(strings.ToLower(path)))
	return `\\.\pipe\starling-` + hex.EncodeToString(sum[:16]), nil
}

func dial(ctx context.Context, dataDir string) (net.Conn, error) {
	name, err := pipe(dataDir)
	if err != nil {
		return nil, err
	}
	return winio.DialPipeContext(ctx, name)
}

// listen makes the pipe; the first to do so has the name to itself.
func listen(_ context.Context, dataDir string, _ bool) (net.Listener, error) {
	name, err := pipe(dataDir)
	if err != nil {
		return nil, err
	}
	l, err := winio.ListenPipe(name, &winio.PipeConfig{SecurityDescriptor: admitted})
	if err != nil {
		return nil, fmt.Errorf("control pipe %s: %w; does another program have it?", name, err)
	}
	return l, nil
}
