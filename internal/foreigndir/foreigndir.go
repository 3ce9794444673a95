// Package foreigndir uses folders in which an untrusted program may have put anything: a FIFO or a
// device instead of a file, a file of terabytes, folders nested thousands deep or without
// permissions. Its calls do not block, do not use memory in proportion to the content, and do not
// leave the folder.
//
// It does not interpret the files' content. All paths are relative to an os.Root.
package foreigndir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/starling-grid/starling/internal/busyfile"
)

// ErrIrregular means that something is not a regular file.
var ErrIrregular = errors.New("not a regular file")

// Open opens a regular file for reading. For anything else it returns an ErrIrregular or an error
// of the system. The caller closes the file.
func Open(root *os.Root, name string) (*os.File, error) {
	return open(root, name, os.O_RDONLY)
}

// OpenToSync opens a regular file for reading and syncing.
func OpenToSync(root *os.Root, name string) (*os.File, error) {
	return open(root, name, syncable)
}

// open opens a file, which must be a regular one.
func open(root *os.Root, name string, flag int) (*os.File, error) {
	f, err := root.OpenFile(name, flag|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %s: %w (%s)", name, ErrIrregular, info.Mode().Type())
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Read returns the first bytes of a regular file, at most so many.
func Read(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := Open(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// Tail returns the last bytes of a regular file, at most so many.
func Tail(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := Open(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return tail(f, most)
}

func tail(f *os.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-most), most))
}

// Append opens a regular file for writing at its end. A missing file is created. Anything else of
// that name is removed first. The caller closes the file.
func Append(root *os.Root, name string, perm fs.FileMode) (*os.File, error) {
	f, err := open(root, name, os.O_WRONLY|os.O_APPEND)
	if err == nil {
		return f, nil
	}
	return Create(root, name, perm)
}

// Create creates a new file for reading and writing, and removes any previous one of that name. The
// caller closes the file.
func Create(root *os.Root, name string, perm fs.FileMode) (*os.File, error) {
	if err := RemoveAll(root, name); err != nil {
		return nil, err
	}
	return root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// Temp is the name of a file while Replace is writing it.
const Temp = "starling_part"

// Replace writes a file so that a reader finds either the old or the new one. done, if it is not
// nil, is called with the file before it gets its name.
func Replace(root *os.Root, name string, content []byte, perm fs.FileMode, done func(*os.File) error) error {
	f, err := Create(root, Temp, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && done != nil {
		err = done(f)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return Rename(root, Temp, name)
}

// Rename renames a file, and removes any previous one of the new name.
func Rename(root *os.Root, old, name string) error {
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		if err := RemoveAll(root, name); err != nil {
			return err
		}
	}
	return busyfile.Retry(func() error { return root.Rename(old, name) })
}

// Names calls f for the names in a folder, in no particular order, until it returns false.
func Names(root *os.Root, dir string, f func(name string) bool) error {
	d, err := root.OpenFile(dir, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(batch)
		for _, name := range names {
			if !f(name) {
				return nil
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// batch is the maximum number of names of a folder that are in memory.
const batch = 512
