package testapp

import (
	"os"
	"os/exec"
	"sync"
	"testing"
)

// Tests that run side by side and are the first to need the application get a whole one.
func TestBuildTogether(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			exe, err := Build()
			if err != nil {
				t.Error(err)
				return
			}
			before, err := os.Stat(exe)
			if err != nil || before.Size() < 10000 {
				t.Errorf("%s: %v, %v", exe, before, err)
			}
		})
	}
	wait.Wait()
}
