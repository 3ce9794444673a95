package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Vacant returns an error if no project can be made in dir: it holds files, or lies within another
// project, whose backups would contain it. dir need not exist.
func Vacant(dir string) error {
	switch entries, err := os.ReadDir(dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty: a project needs its own directory", dir)
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for above := filepath.Dir(path); above != path; path, above = above, filepath.Dir(above) {
		_, settings := os.Stat(filepath.Join(above, "server.toml")) // which other programs may have, too
		if _, keys := os.Stat(filepath.Join(above, KeysDir)); settings == nil && keys == nil {
			return fmt.Errorf("%s is within the project %s: a project needs its own directory", dir, above)
		}
	}
	return nil
}
