package state

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// lockFile waits for the lock with which an agent keeps others from its file, and returns a
// function that releases it. It returns ErrInUse if it does not get the lock in time.
//
// Source: go.etcd.io/bbolt bolt_windows.go, for the byte that is locked.
func lockFile(path string, patience time.Duration) (unlock func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	at := &windows.Overlapped{Offset: ^uint32(0), OffsetHigh: ^uint32(0)}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, windows.ERROR_LOCK_VIOLATION) || time.Now().After(end) {
			break
		}
	}
	_ = f.Close()
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return nil, ErrInUse
	}
	return nil, os.NewSyscallError("LockFileEx", err)
}
