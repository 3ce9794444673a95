package blob

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// CopyTo gives a file's content the path to, outside of the tree, in place of what
// may be there. Where the file system can, it is one more link to the same content,
// which nobody may change; otherwise a copy. The content is durable when CopyTo
// returns, its new name once its folder is synced. A file that is not there gives
// fs.ErrNotExist.
func (d *Dir) CopyTo(name, to string) error {
	from, err := d.Locate(name)
	if err != nil {
		return err
	}
	err = os.Link(from, to)
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return err
	case errors.Is(err, fs.ErrExist) && same(from, to):
		return nil // linked before a crash
	}
	return copyFile(from, to)
}

// same reports whether two names are links to one content.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func copyFile(from, to string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	tmp, err := os.CreateTemp(filepath.Dir(to), ".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
		}
	}()
	if _, err = io.Copy(tmp, src); err != nil {
		return err
	}
	if err = tmp.Chmod(0o644); err != nil {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), to)
}
