//go:build unix

package state

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile waits for the lock with which an agent keeps others from its file, and returns a
// function that releases it. It returns ErrInUse if it does not get the lock in time.
func lockFile(path string, patience time.Duration) (unlock func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		if err == nil {
			return func() {
				// A process that is just being started has the file until it executes its program,
				// and with it a lock that only closing would release.
				_ = unix.Flock(int(f.Fd()), unix.LOCK_UN)
				_ = f.Close()
			}, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(end) {
			break
		}
	}
	_ = f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, ErrInUse
	}
	return nil, os.NewSyscallError("flock", err)
}
