package assimilator

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Discard deletes the outcomes that Copy has put below dir of workunits whose names start with
// prefix, however dir is or was divided, and returns the number of these. It reads the names of all
// outcomes. After an error it can be called again.
func Discard(dir, prefix string) (n int, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir() || name == ".":
			return err
		case strings.HasPrefix(d.Name(), prefix):
			if err := root.RemoveAll(filepath.FromSlash(name)); err != nil {
				return err
			}
			n++
			return fs.SkipDir
		case d.Name() == aside || strings.Contains(name, "/"):
			return fs.SkipDir
		}
		if _, err := root.Stat(filepath.Join(name, summary)); err == nil {
			return fs.SkipDir // an outcome, which may have folders of any name
		}
		return nil
	})
	return n, err
}
