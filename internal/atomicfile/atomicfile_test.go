package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/internal/atomicfile"
)

func TestWriteReplacesAndLeavesNothingBehind(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for _, content := range []string{"one", "two"} {
		if err := atomicfile.Write(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(name)
		if err != nil || string(b) != content {
			t.Errorf("got %q, %v; want %q", b, err, content)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files in the folder, want 1 (%v)", len(entries), err)
	}
	if err := atomicfile.Write(filepath.Join(name, "x"), nil, 0o600); err == nil {
		t.Error("a file was written below a file")
	}
}
