package atomicfile_test

import (
	"os"
	"path/filepath"
	"strconv"
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

// Only a power cut would show that a Group makes files durable. This test shows that it does not
// ignore a missing file.
func TestGroup(t *testing.T) {
	for _, n := range []int{1, 20} {
		dir := t.TempDir()
		g, err := atomicfile.NewGroup(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		var names []string
		for i := range n {
			names = append(names, filepath.Join(dir, strconv.Itoa(i)))
			if err := os.WriteFile(names[i], []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.Sync(names, []string{dir}); err != nil {
			t.Errorf("%d files: %v", n, err)
		}
	}
	g, err := atomicfile.NewGroup(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := g.Sync([]string{filepath.Join(t.TempDir(), "gone")}, nil); err == nil {
		t.Error("a file that is not there was made durable")
	}
	if _, err := atomicfile.NewGroup(filepath.Join(t.TempDir(), "gone")); err == nil {
		t.Error("a group began in a folder that is not there")
	}
}
