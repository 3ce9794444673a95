package sysfault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/starling-grid/starling/internal/sysfault"
)

func TestErrorsOfTheSystem(t *testing.T) {
	_, missing := os.ReadFile(filepath.Join(t.TempDir(), "nothing"))
	denied := fmt.Errorf("create slot 0: %w", &fs.PathError{Op: "mkdir", Path: "slots/0", Err: fs.ErrPermission})
	firewall := &net.OpError{Op: "dial", Net: "tcp", Err: fs.ErrPermission}
	for _, err := range []error{nil, missing, errors.New("no space left on device")} {
		if sysfault.DiskFull(err) || sysfault.DiskFails(err) || sysfault.NotAllowed(err) || sysfault.NoProcess(err) {
			t.Errorf("%v is taken for another", err)
		}
	}
	if !sysfault.NotAllowed(denied) || sysfault.NotAllowed(firewall) {
		t.Errorf("a folder that may not be used: %v, a network: %v", sysfault.NotAllowed(denied), sysfault.NotAllowed(firewall))
	}
}

// TestAFullDisk writes to a device that is always full.
func TestAFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no such device")
	}
	err := os.WriteFile("/dev/full", []byte("x"), 0o600)
	if !sysfault.DiskFull(err) || sysfault.DiskFails(err) {
		t.Errorf("got %v", err)
	}
}
