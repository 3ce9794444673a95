//go:build unix

package boincapi

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/internal/mmapfile"
	"github.com/starling-grid/starling/protocol/appipc"
)

// offer creates the client's shared memory.
func offer(t *testing.T, dir string, _ *appipc.InitData) appipc.Channels {
	t.Helper()
	name := filepath.Join(dir, appipc.MmapFile)
	if err := os.WriteFile(name, make([]byte, appipc.MmapSize), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mem, err := mmapfile.Map(f, appipc.MmapSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mmapfile.Unmap(mem) })
	c, err := appipc.NewChannels(mem)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
