package blob

import (
	"os"
	"path/filepath"
	"time"
)

const (
	cacheDir = ".cache"
	// kept is the time for which a copy is kept after its last use.
	kept = 2 * time.Hour
)

// A cache is a folder with copies of files that are elsewhere. Processes may share
// the folder.
type cache struct{ dir string }

// get returns the path of a file's copy. If it does not exist, fetch makes it.
func (c cache) get(name string, fetch func(to string) error) (string, error) {
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return "", err
	}
	path, now := filepath.Join(dir, name), time.Now()
	if os.Chtimes(path, now, now) == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	c.sweep(now)
	return path, fetch(path)
}

// sweep removes copies that were not used lately, best effort.
func (c cache) sweep(now time.Time) {
	list, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, e := range list {
		if st, err := e.Info(); err == nil && now.Sub(st.ModTime()) > kept {
			c.remove(e.Name())
		}
	}
}

func (c cache) remove(name string) { _ = os.Remove(filepath.Join(c.dir, name)) }
