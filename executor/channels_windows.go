package executor

import (
	"errors"
	"fmt"
	"os"
)

// channels is not supported: BOINC's applications for Windows use named shared
// memory, not a mapped file. The error is an errors.ErrUnsupported.
func (s *slot) channels() (*os.File, error) {
	return nil, fmt.Errorf("shared memory on Windows: %w", errors.ErrUnsupported)
}
