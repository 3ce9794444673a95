//go:build !wasip1

package boincapi

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/starling-grid/starling/protocol/appipc"
)

var errLockBusy = errors.New("slot is locked by another instance")

// lockRetry is the delay after which upstream asks to be started again if its slot is busy.
const lockRetry = 10 * time.Minute

// lockSlot locks the slot for the life of this process. Another instance, left over from a client
// that died, gets some time to notice that and exit.
func (a *App) lockSlot() error {
	deadline := time.Now().Add(a.timing.lockWait)
	for said := false; ; said = true {
		err := a.tryLock()
		if err == nil || !errors.Is(err, errLockBusy) {
			return err
		}
		if time.Now().After(deadline) {
			a.TemporaryExit(lockRetry, "Waiting to acquire slot directory lock.  Another instance may be running.")
		}
		if !said {
			logf("%v: waiting %v", err, a.timing.lockWait)
		}
		time.Sleep(min(time.Second, a.timing.lockWait/4))
	}
}

func (a *App) tryLock() error {
	f, err := openLock()
	if errors.Is(err, errLockBusy) {
		return err
	}
	if err != nil {
		return fmt.Errorf("lock slot: %w", err)
	}
	if err := lockFile(f); err != nil {
		_ = f.Close()
		return err
	}
	// The holder removes the file when it exits, and a lock on a removed file is useless.
	held, err := f.Stat()
	if err == nil {
		var now os.FileInfo
		if now, err = os.Stat(appipc.LockFile); err == nil && os.SameFile(held, now) {
			a.lock = f // closing it would release the lock
			return nil
		}
	}
	_ = f.Close()
	return errLockBusy
}
