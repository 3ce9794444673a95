//go:build unix

package owner_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/owner"
)

// TestRootWritesForTheOwner writes into another user's folder as root.
func TestRootWritesForTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root; giving files to the service's user is NOT tested")
	}
	const uid, gid = 4711, 4712
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := owner.Inherit(dir); err != nil { // the folder is already root's
		t.Fatal(err)
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	written := filepath.Join(dir, "f")
	if err := atomicfile.Write(written, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if u, g, other := owner.Of(written); u != uid || g != gid || !other {
		t.Errorf("a file written by root belongs to %d:%d", u, g)
	}
	if err := owner.Inherit(dir); err != nil {
		t.Fatal(err)
	}
	if u, g, _ := owner.Of(filepath.Join(dir, "a/b")); u != uid || g != gid {
		t.Errorf("a folder deep inside belongs to %d:%d", u, g)
	}
}
