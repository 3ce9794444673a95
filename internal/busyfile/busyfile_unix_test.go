//go:build unix

package busyfile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/internal/busyfile"
)

// A program is open for writing when it is to be run, and is closed later.
func TestAProgramThatIsWritten(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("#!/bin/sh\n"); err != nil {
		t.Fatal(err)
	}
	tries := 0
	err = busyfile.Retry(func() error {
		tries++
		if tries == 3 {
			_ = f.Close()
		}
		return exec.Command(name).Run()
	})
	if err != nil || tries < 3 {
		t.Errorf("after %d tries: %v", tries, err)
	}
}
