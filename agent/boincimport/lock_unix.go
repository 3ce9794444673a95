//go:build unix

package boincimport

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/internal/foreigndir"
)

// lock takes the lock that BOINC's client takes in its folder. A folder without a
// lock file has never had a client.
func lock(d *foreigndir.Door) (release func(), err error) {
	f, err := d.OpenToLock(lockFile)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	} else if err != nil {
		return nil, fmt.Errorf("%w; the lock file shows whether BOINC is running, so run this as root or as BOINC's user", err)
	}
	l := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &l); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%w (%s is locked)", ErrRunning, filepath.Join(d.Path(), lockFile))
	}
	return func() { _ = f.Close() }, nil
}
