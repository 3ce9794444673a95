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

	"github.com/starling-grid/starling/internal/serviceuser"
)

// service is the name of the installed service.
const service = "starling"

// admitted lets in the user that runs the agent, the system and administrators, but no one over the
// network. also lets in users who were granted the data directory. The pipe belongs to the agent's
// user: Windows might by default make its owner a group, of administrators or of all users of the
// computer. A client could then not distinguish an agent's pipe from one that any of them had made.
const (
	admitted = "O:%[1]sD:P(D;;GA;;;NU)(A;;GA;;;%[1]s)(A;;GA;;;SY)(A;;GA;;;BA)"
	also     = "(A;;GRGW;;;%s)"
)

// pipe returns the name of the pipe that belongs to a data directory.
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

// trusted returns an error unless the pipe belongs to this user, the administrators, the system or
// the account of the installed service. The first program to make a pipe has its name, and could
// take requests in place of the agent. An elevated process has the same user as one that is not. A
// pipe that an older elevated agent made belongs to the administrators.
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
	if credible(owner, me.User.Sid) {
		return nil
	}
	return fmt.Errorf("it belongs to %s, which is neither your account nor an administrator", owner)
}

// credible reports whether a pipe of this owner is not a trap for that user. Groups of
// ordinary users own nothing that can be trusted, even where the user is a member.
func credible(owner, me *windows.SID) bool {
	return owner.Equals(me) || owner.IsWellKnown(windows.WinLocalSystemSid) ||
		owner.IsWellKnown(windows.WinBuiltinAdministratorsSid) || owner.String() == serviceuser.SID(service)
}

// listen makes the pipe. The first to do so has the name to itself.
func listen(_ context.Context, dataDir string, _ bool) (net.Listener, error) {
	name, err := pipe(dataDir)
	if err != nil {
		return nil, err
	}
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("determine the current user: %w", err)
	}
	others, err := granted(dataDir)
	if err != nil {
		return nil, fmt.Errorf("determine who may control the agent: %w", err)
	}
	var rights strings.Builder
	fmt.Fprintf(&rights, admitted, me.User.Sid)
	for _, sid := range others {
		fmt.Fprintf(&rights, also, sid)
	}
	l, err := winio.ListenPipe(name, &winio.PipeConfig{SecurityDescriptor: rights.String()})
	if err != nil {
		return nil, fmt.Errorf("control pipe %s: %w; is another program using it?", name, err)
	}
	useUp(name)
	return l, nil
}

// useUp connects to the instance of a new pipe that only reserves its name, and disconnects again.
// Windows does not let clients connect to that one. Wine does, and the first client would wait
// there for an answer forever.
func useUp(name string) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return
	}
	if h, err := windows.CreateFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING, 0, 0); err == nil {
		_ = windows.CloseHandle(h)
	}
}
