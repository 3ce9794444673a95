package executor

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/reason"
)

// A task that fails while its files cannot be written is tried again.
func TestAFailureOnADiskThatTakesNoChanges(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root mounts file systems; a disk that becomes read-only is NOT tested")
	}
	b, task := hostile(t, `touch working; until [ -e go ]; do sleep 0.1; done; exit 2`)
	b.start(task)
	b.appears("working")
	slots := filepath.Join(b.data, "slots")
	slot, err := os.OpenRoot(filepath.Join(slots, "0"))
	must(t, err)
	defer slot.Close()
	if err := unix.Mount("tmpfs", slots, "tmpfs", unix.MS_RDONLY, ""); err != nil {
		t.Skipf("mount: %v; a disk that becomes read-only is NOT tested", err)
	}
	must(t, slot.WriteFile("go", nil, 0o644))
	e := b.ended()
	must(t, unix.Unmount(slots, 0))
	if e.Verdict != Postponed || e.Reason.Code != reason.DiskFails {
		t.Errorf("got %+v", e)
	}
}
