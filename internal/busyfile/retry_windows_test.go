package busyfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/internal/busyfile"
)

// Another program has the file open when it is to be removed, and closes it later.
func TestAFileThatIsOpenElsewhere(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	tries := 0
	err = busyfile.Retry(func() error {
		tries++
		if tries == 3 {
			_ = f.Close()
		}
		return os.Remove(name)
	})
	if err != nil || tries < 3 {
		t.Errorf("after %d tries: %v", tries, err)
	}
}

// Other errors are final, and a file that stays open is not waited for without end.
func TestWhatIsNotWaitedFor(t *testing.T) {
	tries := 0
	err := busyfile.Retry(func() error { tries++; return os.Remove(filepath.Join(t.TempDir(), "gone")) })
	if !errors.Is(err, os.ErrNotExist) || tries != 1 {
		t.Errorf("after %d tries: %v", tries, err)
	}
	name := filepath.Join(t.TempDir(), "f")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := busyfile.Retry(func() error { return os.Remove(name) }); err == nil {
		t.Error("a file was removed that is open")
	}
}
