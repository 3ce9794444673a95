package blob_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/blob"
)

// Temporary files of a killed process do not stay for ever.
func TestAbandonedFilesGo(t *testing.T) {
	dir := t.TempDir()
	d, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = d.Close()
	old, now := filepath.Join(dir, ".tmp", "1"), filepath.Join(dir, ".tmp", "2")
	for _, name := range []string{old, now} {
		if err := os.WriteFile(name, []byte("half of a fi"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := time.Now().Add(-72 * time.Hour)
	if err := os.Chtimes(old, before, before); err != nil {
		t.Fatal(err)
	}
	if d, err = blob.Open(dir); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if _, err := os.Stat(now); err != nil {
		t.Errorf("one that is being stored: %v", err)
	}
}
