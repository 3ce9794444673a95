//go:build unix

package executor

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/starling-grid/starling/internal/foreigndir"
)

// A task of the same project can put a named pipe where an input was. Copying it must not wait for a writer.
func TestInputIsANamedPipe(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	must(t, syscall.Mkfifo(filepath.Join(b.project, "in_2"), 0o600))
	for _, optional := range []bool{false, true} {
		task := b.task("upper")
		task.Files[0] = File{Physical: "in_2", Logical: "in", Copy: true, Optional: optional}
		if err := b.Start(task); !errors.Is(err, foreigndir.ErrIrregular) {
			t.Errorf("optional %v: %v", optional, err)
		}
	}
}
