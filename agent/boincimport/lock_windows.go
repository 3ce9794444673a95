package boincimport

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/windows"
)

// lock opens the file that BOINC's client holds open for itself alone.
func lock(name string) (release func(), err error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(path, windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	} else if err != nil {
		return nil, fmt.Errorf("%w (%s: %w)", ErrRunning, name, err)
	}
	return func() { _ = windows.CloseHandle(h) }, nil
}
