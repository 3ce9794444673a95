package busyfile

import (
	"errors"
	"time"

	"golang.org/x/sys/windows"
)

// patience is for how long a file is waited for. A scanner is done with a large one in less.
const patience = 2 * time.Second

// Retry calls f, which renames or removes files, until it succeeds, fails for another reason
// than that one of them is in use, or two seconds have passed. It returns what f returned last.
func Retry(f func() error) error {
	pause := time.Millisecond
	for end := time.Now().Add(patience); ; pause = min(2*pause, 100*time.Millisecond) {
		err := f()
		if err == nil || !inUse(err) || time.Now().After(end) {
			return err
		}
		time.Sleep(pause)
	}
}

// inUse reports whether another program's open file may be the cause of an error. Windows denies
// access if an open file is in the way of a rename, and if a file will be removed once it is
// closed.
func inUse(err error) bool {
	for _, e := range []error{windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION, windows.ERROR_ACCESS_DENIED, windows.ERROR_USER_MAPPED_FILE, windows.ERROR_DELETE_PENDING, windows.ERROR_DIR_NOT_EMPTY} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
