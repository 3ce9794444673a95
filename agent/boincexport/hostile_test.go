//go:build unix

package boincexport_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/agent/boincexport"
	"github.com/starling-grid/starling/internal/foreigndir"
)

// The exported files stay in the folder, whatever links BOINC's applications have made there.
func TestExportFollowsNoLink(t *testing.T) {
	for _, link := range []string{"projects", "projects/busy.example_x"} {
		to, outside := t.TempDir(), t.TempDir()
		path := filepath.Join(to, link)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(outside, path)); err != nil {
			t.Fatal(err)
		}
		if _, err := boincexport.Export(t.Context(), agent(t), to); !errors.Is(err, foreigndir.ErrIrregular) {
			t.Errorf("%s: got %v", link, err)
		}
		if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
			t.Errorf("%s: written outside: %v, %v", link, left, err)
		}
	}
}
