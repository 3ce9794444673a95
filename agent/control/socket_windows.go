package control

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
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
	c, err := winio.DialPipeContext(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := trusted(c); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("%w: control pipe %s: %w", ErrForbidden, name, err)
	}
	return c, nil
}

// trusted returns an error unless the pipe is this user's own, an administrator's or
// the system's: whoever makes a pipe first has its name, and could take requests in
// place of the agent.
func trusted(c net.Conn) error {
	f, ok := c.(interface{ Fd() uintptr })
	if !ok {
		return errors.New("cannot determine its owner")
	}
	sd, err := windows.GetSecurityInfo(windows.Handle(f.Fd()), windows.SE_KERNEL_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("determine its owner: %w", err)
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return fmt.Errorf("determine its owner: %w", err)
	}
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return fmt.Errorf("determine the current user: %w", err)
	}
	if owner.Equals(me.User.Sid) || owner.IsWellKnown(windows.WinLocalSystemSid) || owner.IsWellKnown(windows.WinBuiltinAdministratorsSid) {
		return nil
	}
	return fmt.Errorf("it belongs to %s, which is neither your account nor an administrator", owner)
}

// listen makes the pipe; the first to do so has the name to itself.
func listen(_ context.Context, dataDir string, _ bool) (net.Listener, error) {
	name, err := pipe(dataDir)
	if err != nil {
		return nil, err
	}
	l, err := winio.ListenPipe(name, &winio.PipeConfig{SecurityDescriptor: admitted})
	if err != nil {
		return nil, fmt.Errorf("control pipe %s: %w; is another program using it?", name, err)
	}
	return l, nil
}
