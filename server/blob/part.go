package blob

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/starling-grid/starling/protocol"
)

// partName is where a file lies that has not arrived whole.
func partName(name string) string { return filepath.Join(partDir, name) }

// OpenPart opens what has arrived of a file for reading and writing, empty if
// nothing has. The caller closes it.
func (d *Dir) OpenPart(name string) (*os.File, error) {
	if err := protocol.ValidFileName(name); err != nil {
		return nil, err
	}
	return d.root.OpenFile(partName(name), os.O_RDWR|os.O_CREATE, 0o644)
}

// PartSize returns how much of a file has arrived, 0 if nothing has.
func (d *Dir) PartSize(name string) (int64, error) {
	if err := protocol.ValidFileName(name); err != nil {
		return 0, err
	}
	st, err := d.root.Stat(partName(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return st.Size(), nil
}

// CommitPart makes a part, which its caller has synced and closed, the file of
// that name. The file is durable when CommitPart returns.
func (d *Dir) CommitPart(name string) error {
	p, err := place(name)
	if err != nil {
		return err
	}
	return d.move(partName(name), p)
}

// RemovePart throws away what has arrived of a file.
func (d *Dir) RemovePart(name string) error {
	if err := protocol.ValidFileName(name); err != nil {
		return err
	}
	return d.root.Remove(partName(name))
}
