package boincapi

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"

	"github.com/starling-grid/starling/protocol/appipc"
)

// openLock opens the slot's lock file so that no other process can open it until it is closed.
//
// Source: BOINC lib/filesys.cpp, FILE_LOCK::lock.
func openLock() (*os.File, error) {
	name, err := windows.UTF16PtrFromString(appipc.LockFile)
	if err != nil {
		return nil, err
	}
	const shared = 0
	h, err := windows.CreateFile(name, windows.GENERIC_WRITE, shared, nil, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		return nil, errLockBusy
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: appipc.LockFile, Err: err}
	}
	return os.NewFile(uintptr(h), appipc.LockFile), nil
}

// lockFile does nothing: opening the file has locked it.
func lockFile(*os.File) error { return nil }

// processExists reports whether a process has not ended. A process that may not be accessed belongs
// to another user, and so exists.
func processExists(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid)) //nolint:gosec // process ids are that small
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER)
	}
	defer func() { _ = windows.CloseHandle(h) }()
	event, err := windows.WaitForSingleObject(h, 0)
	return err != nil || event != windows.WAIT_OBJECT_0
}

func ownCPUTime() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0
	}
	ticks := func(f windows.Filetime) time.Duration {
		return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
	}
	return ticks(kernel) + ticks(user)
}
