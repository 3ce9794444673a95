package blob

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// CopyTo implements Tree. Where the file system can, the copy is one more link to the
// same content.
func (d *Dir) CopyTo(ctx context.Context, name, to string) error {
	from, err := d.Locate(ctx, name)
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
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return write(f, to)
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

// write puts the data that r yields into the file to, whole and durable or not at all.
func write(r io.Reader, to string) (err error) {
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
	if _, err = io.Copy(tmp, r); err != nil {
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
