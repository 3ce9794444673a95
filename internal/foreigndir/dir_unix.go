//go:build unix

package foreigndir

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// nonBlocking prevents a FIFO without a peer, or a device, from blocking us.
const nonBlocking = unix.O_NONBLOCK

// syncable is the mode in which a file is opened to be read and then made durable.
const syncable = os.O_RDONLY

// openDir opens an untrusted folder, never through a link, and restores the permissions that we
// need, since its owner may have removed them.
func openDir(parent *os.File, name string) (*os.File, error) {
	at := int(parent.Fd())
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	fd, err := unix.Openat(at, name, flags, 0)
	if errors.Is(err, unix.EACCES) && repair(at, name) == nil {
		fd, err = unix.Openat(at, name, flags, 0)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err == nil && st.Mode&0o700 != 0o700 {
		_ = unix.Fchmod(fd, uint32(st.Mode)&0o777|0o700) //nolint:unconvert // not on all systems; a call that needs it says so
	}
	return os.NewFile(uintptr(fd), name), nil
}

// openFolder returns the folder dir of root as a file.
func openFolder(root *os.Root, dir string) (*os.File, error) {
	d, err := root.Open(path.Dir(dir))
	if err != nil || dir == "." {
		return d, err
	}
	defer d.Close()
	return openDir(d, path.Base(dir))
}

// Give changes the owner of a file or of a folder with all its content to a user and the group of
// the same ID.
func Give(root *os.Root, name string, user int) error {
	d, err := openFolder(root, name)
	if err != nil {
		return err
	}
	return give(d, user, 1)
}

// give changes the owner of an open folder and its content, and closes d.
func give(d *os.File, user, depth int) error {
	defer d.Close()
	if depth > MaxDepth {
		return ErrTooDeep
	}
	for {
		names, _ := d.Readdirnames(batch) // no names at the end
		if len(names) == 0 {
			return d.Chown(user, user)
		}
		for _, name := range names {
			if sub, err := openDir(d, name); err == nil {
				if err := give(sub, user, depth+1); err != nil {
					return err
				}
			} else if err := unix.Fchownat(int(d.Fd()), name, user, user, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				return err
			}
		}
	}
}

// Repair restores this user's permissions for a folder that a program of the same user removed.
func Repair(root *os.Root, dir string) error {
	d, err := openFolder(root, dir)
	if err != nil {
		return err
	}
	return d.Close()
}
