package blob

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/starling-grid/starling/protocol"
)

// ErrLocked means that somebody else is changing a part.
var ErrLocked = errors.New("another connection has this file")

// LockPart implements Parts. On a file system without locks, other processes are not kept away.
func (d *Dir) LockPart(name string) (release func(), err error) {
	if err := protocol.ValidFileName(name); err != nil {
		return nil, err
	}
	if _, taken := d.busy.LoadOrStore(name, true); taken {
		return nil, ErrLocked
	}
	unlock, err := d.lock(filepath.Join(lockDir, name))
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) {
		unlock, err = func() {}, nil
	}
	if err != nil {
		d.busy.Delete(name)
		return nil, err
	}
	return func() {
		unlock()
		d.busy.Delete(name)
	}, nil
}

// lock locks a file, which its holder removes: whoever gets the lock on one that is not there any more tries again.
func (d *Dir) lock(at string) (release func(), err error) {
	for {
		l := flock.New(filepath.Join(d.root.Name(), at), flock.SetPermissions(0o644)) // processes may be of different users
		switch ok, err := l.TryLock(); {
		case err != nil:
			return nil, err
		case !ok:
			_ = l.Close()
			return nil, ErrLocked
		}
		held, err := l.Stat()
		if err == nil {
			var there fs.FileInfo
			if there, err = d.root.Lstat(at); err == nil && os.SameFile(held, there) {
				return func() {
					_ = d.root.Remove(at)
					_ = l.Close()
				}, nil
			}
		}
		_ = l.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// partName returns the path of a file that has not arrived whole.
func partName(name string) string { return filepath.Join(partDir, name) }

// OpenPart implements Parts.
func (d *Dir) OpenPart(name string) (Part, error) {
	if err := protocol.ValidFileName(name); err != nil {
		return nil, err
	}
	return d.root.OpenFile(partName(name), os.O_RDWR|os.O_CREATE, 0o644)
}

// PartSize implements Parts.
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

// CommitPart implements Parts.
func (d *Dir) CommitPart(_ context.Context, name string) error {
	p, err := place(name)
	if err != nil {
		return err
	}
	err = d.place(partName(name), p)
	if errors.Is(err, fs.ErrExist) { // another process was first, and its file may be in use
		err = nil
	}
	if err != nil {
		return err
	}
	if err := d.root.Remove(partName(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RemovePart implements Parts.
func (d *Dir) RemovePart(name string) error {
	if err := protocol.ValidFileName(name); err != nil {
		return err
	}
	return d.root.Remove(partName(name))
}

// Walk implements Tree.
func (d *Dir) Walk(ctx context.Context, fn func(name string, modified time.Time) error) error {
	return fs.WalkDir(d.root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		dir := path.Dir(p)
		if dir != partDir && p != Path(e.Name()) {
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return fn(e.Name(), info.ModTime())
	})
}
