// Package atomicfile replaces files so that after a crash at any instant either
// the old or the new content is there, whole.
package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/starling-grid/starling/internal/busyfile"
	"github.com/starling-grid/starling/internal/owner"
)

// Write puts data into the file name with the given permissions. It writes a temporary file in the
// same folder, syncs that, renames it, and syncs the folder. The old content remains until the new
// content is safe. Files that root writes get the owner of the folder, which is often the service's
// user.
func Write(name string, data []byte, perm os.FileMode) (err error) {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, "."+filepath.Base(name)+".*.tmp")
	if err != nil {
		return failed(name, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
			err = failed(name, err)
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Chmod(perm); err != nil {
		return err
	}
	if uid, gid, other := owner.Of(dir); other {
		if err = f.Chown(uid, gid); err != nil {
			return err
		}
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = rename(f.Name(), name); err != nil {
		return err
	}
	return SyncDir(dir)
}

// failed turns an error of the temporary file, which means nothing to people, into one of the file
// name.
func failed(name string, err error) error {
	switch e := err.(type) { //nolint:errorlint // as the functions above return them
	case *fs.PathError:
		err = e.Err
	case *os.LinkError:
		err = e.Err
	}
	return &fs.PathError{Op: "write", Path: name, Err: err}
}

// rename waits for what another program has open for a moment.
func rename(from, to string) error {
	return busyfile.Retry(func() error { return os.Rename(from, to) })
}

// Rename makes the content of the file from durable, and gives it the name to in place of any other
// file.
func Rename(from, to string) error {
	err := syncFile(from)
	if err == nil {
		err = rename(from, to)
	}
	if err == nil {
		err = SyncDir(filepath.Dir(to))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", to, err)
	}
	return nil
}
