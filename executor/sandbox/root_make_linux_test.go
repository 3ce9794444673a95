package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Several tasks may replace a link or a file of an image by a folder at the same time.
func TestMakeAtOnce(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, "x")
	for i := range 600 {
		err := os.Symlink("/nowhere", path)
		if i%2 == 0 {
			err = errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
		const n = 4
		errs := make(chan error)
		for range n {
			go func() {
				dir, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY, 0)
				if err == nil {
					var fd int
					if fd, err = (newRoot{dir}).make("/x/y", true); err == nil {
						err = unix.Close(fd)
					}
					_ = unix.Close(dir)
				}
				errs <- err
			}()
		}
		for range n {
			if err := <-errs; err != nil {
				t.Fatalf("round %d: %v", i, err)
			}
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}
