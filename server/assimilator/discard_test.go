package assimilator_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/server/assimilator"
)

// After a change of the division, all folders whose names have the prefix are removed. Nothing else
// is removed, neither the files in another outcome nor folders that are being made.
func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"api1_a/out", "batch_7/api1_b/sub/out", "2026-11-23/api1_c/out", "api11_a/out", "other/api1_x", "other/sub/api1_y/out", "other/api1_z/out", "other/result.json", ".tmp/p1/api1_d/out"} {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, nil, 0o600))
	}
	if n, err := assimilator.Discard(dir, "api1_"); err != nil || n != 3 {
		t.Errorf("%d deleted, %v, want 3", n, err)
	}
	for name, want := range map[string]bool{
		"api1_a": false, "batch_7/api1_b": false, "2026-11-23/api1_c": false, "batch_7": true,
		"api11_a/out": true, "other/api1_x": true, "other/sub/api1_y/out": true, "other/api1_z/out": true, ".tmp/p1/api1_d/out": true,
	} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", name, err, want)
		}
	}
	if n, err := assimilator.Discard(filepath.Join(dir, "none"), "api1_"); err != nil || n != 0 {
		t.Errorf("where nothing was: %d, %v", n, err)
	}
}
