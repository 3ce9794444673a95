package world

import (
	"os"
	"runtime/debug"
	"testing"
)

// Little is held, much is made and forgotten.
func TestMain(m *testing.M) {
	debug.SetGCPercent(1000)
	debug.SetMemoryLimit(1 << 30)
	os.Exit(m.Run())
}
