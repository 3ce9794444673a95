// Package testimage makes container images for tests, without a network.
package testimage

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// System copies programs of this computer, with the libraries that they load, to the same paths
// below a folder. Programs that do not exist here are left out.
func System(ctx context.Context, dir string, programs ...string) error {
	for _, name := range programs {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if err := copyInto(dir, path, filepath.Join("/bin", filepath.Base(name))); err != nil {
			return err
		}
		list, err := exec.CommandContext(ctx, "ldd", path).Output()
		if err != nil { // a static program
			continue
		}
		for word := range strings.FieldsSeq(string(list)) {
			if !filepath.IsAbs(word) {
				continue
			}
			if err := copyInto(dir, word, word); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyInto copies a file to a path below a folder, unless it is there.
func copyInto(dir, from, at string) error {
	to := filepath.Join(dir, at)
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755) //nolint:gosec // as in a system
	}
	if err == nil {
		err = os.WriteFile(to, content, fs.FileMode(0o755))
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return nil
}
