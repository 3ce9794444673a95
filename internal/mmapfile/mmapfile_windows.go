package mmapfile

import (
	"errors"
	"fmt"
	"os"
)

// Map is not supported: BOINC's applications for Windows use named shared
// memory, not a mapped file. The error is an errors.ErrUnsupported.
func Map(f *os.File, _ int) ([]byte, error) {
	return nil, fmt.Errorf("map %s: shared memory on Windows: %w", f.Name(), errors.ErrUnsupported)
}

// Unmap does nothing.
func Unmap([]byte) error { return nil }
