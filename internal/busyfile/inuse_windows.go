package busyfile

import (
	"errors"

	"golang.org/x/sys/windows"
)

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
