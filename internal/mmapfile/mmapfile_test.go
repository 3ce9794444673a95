//go:build unix

package mmapfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/internal/mmapfile"
)

func TestTwoMappingsShareMemory(t *testing.T) {
	name := filepath.Join(t.TempDir(), "mem")
	if err := os.WriteFile(name, make([]byte, 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	a, b := open(t, name, 8192), open(t, name, 8192)
	a[8191] = 7
	if b[8191] != 7 {
		t.Error("a write in one mapping is not seen in the other")
	}
}

func TestShortFileIsRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "mem")
	if err := os.WriteFile(name, make([]byte, 10), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := mmapfile.Map(f, 8192); err == nil {
		t.Error("a file that is too short was mapped")
	}
}

func open(t *testing.T, name string, size int) []byte {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mem, err := mmapfile.Map(f, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mmapfile.Unmap(mem) })
	return mem
}
