//go:build unix

package state_test

import (
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/starling-grid/starling/state"
)

// A process that is just being started shares its parent's open files until it executes its
// program. All the same, the state can be opened again without waiting.
func TestAStartingProcessDoesNotKeepTheLock(t *testing.T) {
	var stop atomic.Bool
	var starters sync.WaitGroup
	for range 4 {
		starters.Go(func() {
			for !stop.Load() {
				_ = exec.Command("true").Run()
			}
		})
	}
	defer starters.Wait()
	defer stop.Store(true)
	path := filepath.Join(t.TempDir(), "state.db")
	for range 1000 {
		synctest.Test(t, func(t *testing.T) {
			db, err := state.Open(path)
			if err == nil {
				err = db.Close()
			}
			must(t, err)
		})
	}
}
