//go:build unix

package boincapi

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/protocol/appipc"
)

// openLock opens the slot's lock file.
func openLock() (*os.File, error) {
	return os.OpenFile(appipc.LockFile, os.O_RDWR|os.O_CREATE, 0o660) //nolint:gosec // as BOINC's: the client may be another user of the group
}

// lockFile takes BOINC's lock: an fcntl write lock on the whole file.
func lockFile(f *os.File) error {
	l := unix.Flock_t{Type: unix.F_WRLCK}
	err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &l)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return errLockBusy
	}
	if err != nil {
		return fmt.Errorf("lock slot: %w", err)
	}
	return nil
}

// processExists reports whether the process pid exists, whatever its owner.
func processExists(pid int) bool {
	return !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

// ownCPUTime returns the CPU time of this process and of the children that it has waited for.
func ownCPUTime() time.Duration {
	var sum time.Duration
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}
