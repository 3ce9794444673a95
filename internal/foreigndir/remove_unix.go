//go:build unix

package foreigndir

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"

	"golang.org/x/sys/unix"
)

// RemoveAll removes a file, or a folder with all its content. A missing one is not an error. Nested
// folders are moved up before they are emptied, so that neither memory nor the number of open files
// grows with their depth.
func RemoveAll(root *os.Root, name string) error {
	parent, err := root.Open(path.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer parent.Close()
	base := path.Base(name)
	if err := unlink(parent, base); !notEmpty(err) {
		return named(name, err)
	}
	top, err := openDir(parent, base)
	if err != nil {
		return err
	}
	defer top.Close()
	r := remover{top: top}
	for {
		removed, err := r.sweep(top)
		if err != nil {
			return named(name, err)
		}
		if removed == 0 {
			return named(name, unlink(parent, base))
		}
	}
}

func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "remove", Path: name, Err: err}
}

// A remover empties one folder.
type remover struct {
	top   *os.File
	moved int // number of folders that were moved to top
}

// sweep removes a batch of a folder's entries and returns their number.
func (r *remover) sweep(dir *os.File) (int, error) {
	if _, err := dir.Seek(0, 0); err != nil {
		return 0, err
	}
	names, _ := dir.Readdirnames(batch) // no names at the end
	for _, name := range names {
		err := unlink(dir, name)
		switch {
		case !notEmpty(err):
		case dir == r.top:
			err = r.empty(name)
		default:
			err = r.lift(dir, name)
		}
		if err != nil {
			return 0, err
		}
	}
	return len(names), nil
}

// empty removes a folder in top, and moves the folders in it to top.
func (r *remover) empty(name string) error {
	dir, err := openDir(r.top, name)
	if err != nil {
		return err
	}
	defer dir.Close()
	for {
		n, err := r.sweep(dir)
		if err != nil {
			return err
		}
		if n == 0 {
			return unlink(r.top, name)
		}
	}
}

// lift moves a folder to top under an unused name.
func (r *remover) lift(dir *os.File, name string) error {
	sub, err := openDir(dir, name) // to restore the permissions, since moving a folder to another parent writes to it
	if err != nil {
		return err
	}
	_ = sub.Close()
	for {
		r.moved++
		err := unix.Renameat(int(dir.Fd()), name, int(r.top.Fd()), "lifted."+strconv.Itoa(r.moved))
		if !errors.Is(err, unix.EEXIST) && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.ENOTDIR) {
			return err
		}
	}
}

// unlink removes a file or an empty folder.
func unlink(dir *os.File, name string) error {
	fd := int(dir.Fd())
	err := unix.Unlinkat(fd, name, 0)
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) {
		if as := unix.Unlinkat(fd, name, unix.AT_REMOVEDIR); !errors.Is(as, unix.ENOTDIR) {
			err = as
		}
	}
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

func notEmpty(err error) bool { return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) }
