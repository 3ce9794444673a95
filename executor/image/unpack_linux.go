package image

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/inroot"
	"github.com/starling-grid/starling/protocol"
)

// unpack writes the layers of an image to a folder, one over the other, and syncs it. most is the
// maximum number of their entries.
func unpack(ctx context.Context, dir string, m protocol.Image, most int, open Layers) error {
	root, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	t := &tree{root: root, fd: -1}
	defer t.close()
	left := most
	for _, l := range m.Layers {
		s, err := surveyOf(ctx, l, open, left)
		if errors.Is(err, errTooMany) {
			return broken("it has more than %d files", most)
		}
		if err != nil {
			return err
		}
		left -= s.entries
		for _, r := range s.removals {
			if err := t.clear(r); err != nil {
				return fmt.Errorf("remove %.300q: %w", r.path, err)
			}
		}
		if err := read(ctx, l, open, t.add); err != nil {
			return err
		}
	}
	return unix.Syncfs(root)
}

// A tree is the folder of an image. All paths stay within it, whatever links are in them.
type tree struct {
	root int
	dir  string // path of the folder that fd is
	fd   int    // -1: none
}

func (t *tree) close() {
	t.forget()
	_ = unix.Close(t.root)
}

// forget closes the folder that was used last, because its path may now lead elsewhere.
func (t *tree) forget() {
	if t.fd >= 0 {
		_ = unix.Close(t.fd)
	}
	t.fd = -1
}

// folder returns the folder at a path, or ENOENT.
func (t *tree) folder(dir string) (int, error) {
	fd, err := inroot.Open(t.root, dir, true)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		err = unix.ENOTDIR
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func cleanDir(dir string) string {
	if dir = strings.Trim(dir, "/"); dir == "" {
		return "."
	}
	return dir
}

// parent returns the folder of a file, which it creates if necessary. The folder belongs to the
// tree.
func (t *tree) parent(name string) (int, error) {
	dir := cleanDir(path.Dir(name))
	if t.fd >= 0 && t.dir == dir {
		return t.fd, nil
	}
	fd, err := t.folder(dir)
	if errors.Is(err, unix.ENOENT) && dir != "." {
		fd, err = t.makeFolder(dir)
	}
	if err != nil {
		return -1, ofImage(err)
	}
	t.forget()
	t.dir, t.fd = dir, fd
	return fd, nil
}

func (t *tree) makeFolder(dir string) (int, error) {
	above, err := t.parent(dir)
	if err != nil {
		return -1, err
	}
	if err := mkdir(above, path.Base(dir)); err != nil {
		return -1, err
	}
	t.forget()
	return t.folder(dir)
}

// ofImage returns an error that is the image's fault if it is about names. Others, such as a full
// disk, are this computer's.
func ofImage(err error) error {
	for _, e := range []unix.Errno{unix.EEXIST, unix.ENOENT, unix.ENOTDIR, unix.EISDIR, unix.ELOOP, unix.ENAMETOOLONG, unix.EXDEV, unix.EINVAL, unix.EMLINK, unix.ENOTEMPTY, unix.EBUSY} {
		if errors.Is(err, e) && !errors.Is(err, ErrBroken) {
			return broken("%w", err)
		}
	}
	return err
}

// remove removes a file or a folder with its content, if it exists.
func (t *tree) remove(dir int, base string) error {
	err := unix.Unlinkat(dir, base, 0)
	switch {
	case err == nil:
		t.forget() // it may have been a link to a folder
		return nil
	case errors.Is(err, unix.ENOENT):
		return nil
	case !errors.Is(err, unix.EISDIR):
		return err
	}
	root, err := os.OpenRoot("/proc/self/fd/" + strconv.Itoa(dir))
	if err != nil {
		return err
	}
	defer root.Close()
	t.forget()
	return foreigndir.RemoveAll(root, base)
}

// clear carries out a whiteout.
func (t *tree) clear(r removal) error {
	dir, base := path.Split(r.path)
	if r.opaque {
		dir, base = r.path, ""
	}
	fd, err := t.folder(dir)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return ofImage(err)
	}
	defer func() { _ = unix.Close(fd) }()
	if !r.opaque {
		return t.remove(fd, base)
	}
	root, err := os.OpenRoot("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil {
		return err
	}
	defer root.Close()
	var names []string
	if err := foreigndir.Names(root, ".", func(name string) bool {
		names = append(names, name)
		return true
	}); err != nil {
		return err
	}
	for _, name := range names {
		if err := t.remove(fd, name); err != nil {
			return err
		}
	}
	return nil
}

// add makes the file of an entry. Types that an image of a task does not need, such as devices, are
// left out.
func (t *tree) add(name string, h *tar.Header, content io.Reader) error {
	if name == "" || isWhiteout(name) {
		return nil // the root exists already
	}
	switch h.Typeflag {
	case tar.TypeDir, tar.TypeReg, tar.TypeSymlink, tar.TypeLink:
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return nil
	default:
		return broken("it has an unknown type %q", h.Typeflag)
	}
	dir, err := t.parent(name)
	if err != nil {
		return err
	}
	switch base := path.Base(name); h.Typeflag {
	case tar.TypeDir:
		err = t.addFolder(dir, base)
	case tar.TypeSymlink:
		err = t.addSymlink(dir, base, h.Linkname)
	case tar.TypeLink:
		err = t.addLink(dir, base, name, h.Linkname)
	default:
		err = t.addFile(dir, base, h, content)
	}
	return ofImage(err)
}

func (t *tree) addFolder(dir int, base string) error {
	var st unix.Stat_t
	err := unix.Fstatat(dir, base, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return nil
	}
	if dir, err = t.free(dir, base, err); err != nil {
		return err
	}
	defer func() { _ = unix.Close(dir) }()
	return mkdir(dir, base)
}

// mkdir makes a folder that all users may read, whatever the umask is.
func mkdir(dir int, base string) error {
	if err := unix.Mkdirat(dir, base, 0o755); err != nil {
		return err
	}
	return unix.Fchmodat(dir, base, 0o755, 0)
}

// free removes the file of a lower layer whose name is needed, where err is the result of looking
// for it, and returns its folder, which the caller closes.
func (t *tree) free(dir int, base string, err error) (int, error) {
	own, dupErr := unix.FcntlInt(uintptr(dir), unix.F_DUPFD_CLOEXEC, 0)
	if dupErr != nil {
		return -1, dupErr
	}
	if !errors.Is(err, unix.ENOENT) {
		if err := t.remove(own, base); err != nil {
			_ = unix.Close(own)
			return -1, err
		}
	}
	return own, nil
}

func (t *tree) addSymlink(dir int, base, target string) error {
	dir, err := t.free(dir, base, nil)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(dir) }()
	return unix.Symlinkat(target, dir, base)
}

// addLink makes a second name of a file in the image.
func (t *tree) addLink(dir int, base, name, target string) error {
	target, err := clean(target)
	if err != nil {
		return fmt.Errorf("link: %w", err)
	}
	if target == name {
		return broken("it is a link to itself")
	}
	from, err := t.folder(path.Dir(target))
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(from) }()
	var st unix.Stat_t
	if err := unix.Fstatat(from, path.Base(target), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if mode := st.Mode & unix.S_IFMT; mode != unix.S_IFREG && mode != unix.S_IFLNK {
		return broken("the link leads to something other than a file")
	}
	if dir, err = t.free(dir, base, nil); err != nil {
		return err
	}
	defer func() { _ = unix.Close(dir) }()
	return unix.Linkat(from, path.Base(target), dir, base, 0)
}

func (t *tree) addFile(dir int, base string, h *tar.Header, content io.Reader) error {
	dir, err := t.free(dir, base, nil)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(dir) }()
	perm := uint32(0o644) // never setuid, whoever owns it there
	if h.Mode&0o111 != 0 {
		perm = 0o755
	}
	fd, err := unix.Openat(dir, base, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), filepath.Base(base))
	_, err = io.Copy(f, content)
	if err == nil {
		err = f.Chmod(fs.FileMode(perm)) // whatever the umask is
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return setTime(dir, base, h.ModTime)
}

// setTime keeps a file's time, because interpreters compare it to the time in their caches.
func setTime(dir int, base string, at time.Time) error {
	ts, err := unix.TimeToTimespec(at)
	if err != nil {
		return broken("time of the file: %w", err)
	}
	return unix.UtimesNanoAt(dir, base, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}
