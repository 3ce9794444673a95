// Package foreigndir uses folders in which a program that is not trusted may
// have put anything: a FIFO or a device where a file belongs, a file of
// terabytes, folders nested thousands deep or without permissions. No call here
// waits for somebody else, takes memory in proportion to what it finds, or leaves
// the folder.
//
// It does not know what the files mean; that is its caller's affair. All paths
// are relative to an os.Root.
package foreigndir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/starling-grid/starling/internal/busyfile"
)

// ErrIrregular says that what is there is no regular file.
var ErrIrregular = errors.New("not a regular file")

// Open opens a regular file for reading. Anything else is an ErrIrregular, or an
// error of the system; the caller closes the file.
func Open(root *os.Root, name string) (*os.File, error) {
	return open(root, name, os.O_RDONLY, 0)
}

// OpenToSync opens a regular file for reading and for its Sync.
func OpenToSync(root *os.Root, name string) (*os.File, error) {
	return open(root, name, syncable, 0)
}

// open opens a regular file and nothing else.
func open(root *os.Root, name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := root.OpenFile(name, flag|nonBlocking, perm)
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

// Tail returns the end of a regular file, at most so many bytes.
func Tail(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := Open(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-most), most))
}

// Append opens a regular file for writing at its end. One that is not there is
// made, and whatever else is there is removed first. The caller closes the file.
func Append(root *os.Root, name string, perm fs.FileMode) (*os.File, error) {
	f, err := open(root, name, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		return f, nil
	}
	return Create(root, name, perm)
}

// Create makes a new file for reading and writing, and removes what has its name.
// The caller closes the file.
func Create(root *os.Root, name string, perm fs.FileMode) (*os.File, error) {
	if err := RemoveAll(root, name); err != nil {
		return nil, err
	}
	return root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// Temp is the name of a file that Replace is writing.
const Temp = "starling_part"

// Replace writes a file such that a reader finds the old one or the new one. done,
// if it is not nil, is called with the file before it gets its name.
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

// Rename gives a file another name, and removes what had that before.
func Rename(root *os.Root, old, name string) error {
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		if err := RemoveAll(root, name); err != nil {
			return err
		}
	}
	return busyfile.Retry(func() error { return root.Rename(old, name) })
}

// Names calls f for the names in a folder, in no order, until it returns false.
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

// batch is how many names of a folder are held in memory.
const batch = 512
