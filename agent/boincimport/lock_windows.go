package boincimport

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/windows"

	"github.com/starling-grid/starling/internal/foreigndir"
)

// lock opens the file that BOINC's client holds open for itself alone.
func lock(d *foreigndir.Door) (release func(), err error) {
	name := filepath.Join(d.Path(), lockFile)
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
