package foreigndir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// ErrTooLarge means that a file is larger than allowed.
var ErrTooLarge = errors.New("too large")

// A Door gives access to a stranger's folder, whose files are read with rights that the stranger
// does not have, for example when root imports files that another user's programs may have written.
// The folder is opened once, and links below it are never followed. Only regular files are read, up
// to a limit, and until the context ends.
type Door struct {
	ctx  context.Context
	root *os.Root
	path string // for messages
}

// Enter opens a folder that a person has named. Links in its path are followed. The caller closes
// the door.
func Enter(ctx context.Context, dir string) (*Door, error) {
	// A named pipe would make OpenRoot wait, and no signal could end that.
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Door{ctx, root, dir}, nil
}

// Close closes the door.
func (d *Door) Close() error { return d.root.Close() }

// Root returns the folder. Names in it are not checked for links.
func (d *Door) Root() *os.Root { return d.root }

// Path returns the path of the folder, for messages.
func (d *Door) Path() string { return d.path }

// Into opens a folder below. Each part of its name must be a folder, not a link. The caller closes
// the door.
func (d *Door) Into(name string) (*Door, error) {
	at, parent := d.root, ""
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		sub, err := into(at, part)
		if at != d.root {
			_ = at.Close()
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path.Join(d.path, parent, part), Err: cause(err)}
		}
		at, parent = sub, path.Join(parent, part)
	}
	return &Door{d.ctx, at, path.Join(d.path, parent)}, nil
}

func into(parent *os.Root, name string) (*os.Root, error) {
	seen, err := parent.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, fmt.Errorf("not a folder: %w", irregular(seen))
	}
	sub, err := parent.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := sub.Stat("."); err != nil || !os.SameFile(seen, now) {
		_ = sub.Close()
		return nil, errors.Join(err, errors.New("it was exchanged"))
	}
	return sub, nil
}

// cause returns an error without its file name, so that a longer name can be added.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

func irregular(info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%w: a link, which is not followed", ErrIrregular)
	}
	return fmt.Errorf("%w (%s)", ErrIrregular, info.Mode().Type())
}

// Stat describes a regular file.
func (d *Door) Stat(name string) (fs.FileInfo, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
}

// Open opens a regular file for reading. The folders in its name must not be links either. The
// caller closes it.
func (d *Door) Open(name string) (*os.File, error) { return d.open(name, os.O_RDONLY) }

// OpenToLock opens a regular file to lock the whole of it. The caller closes it.
func (d *Door) OpenToLock(name string) (*os.File, error) { return d.open(name, os.O_RDWR) }

func (d *Door) open(name string, flag int) (*os.File, error) {
	if err := d.ctx.Err(); err != nil {
		return nil, context.Cause(d.ctx)
	}
	dir, base := path.Split(path.Clean(name))
	if dir != "" {
		sub, err := d.Into(dir)
		if err != nil {
			return nil, err
		}
		defer sub.Close()
		return sub.open(base, flag)
	}
	f, err := openSeen(d.root, base, flag)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path.Join(d.path, base), Err: cause(err)}
	}
	return f, nil
}

func openSeen(root *os.Root, name string, flag int) (*os.File, error) {
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, irregular(seen)
	}
	f, err := open(root, name, flag)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(seen, now) {
		_ = f.Close()
		return nil, errors.Join(err, errors.New("it was exchanged"))
	}
	return f, nil
}

// Read returns a regular file of at most so many bytes. If it is larger, Read returns an
// ErrTooLarge.
func (d *Door) Read(name string, most int64) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return whole(d.ctx, f, most)
}

// whole reads a file of at most so many bytes, until ctx ends.
func whole(ctx context.Context, f *os.File, most int64) ([]byte, error) {
	if err := fits(f, most); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(until{ctx, io.LimitReader(f, most+1)})
	if err == nil && int64(len(b)) > most {
		err = tooLarge(f, most)
	}
	return b, err
}

// Copy copies a regular file of at most so many bytes to another folder, replaces any file of that
// name, and syncs it. If the file is larger, the partial copy is removed.
func (d *Door) Copy(name string, to *os.Root, as string, perm fs.FileMode, most int64) (err error) {
	in, err := d.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := fits(in, most); err != nil {
		return err
	}
	out, err := Create(to, as, perm)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, until{d.ctx, io.LimitReader(in, most+1)})
	if err == nil && n > most {
		err = tooLarge(in, most)
	}
	if err == nil {
		err = errors.Join(out.Chmod(perm), out.Sync())
	}
	if err = errors.Join(err, out.Close()); err != nil {
		_ = RemoveAll(to, as)
	}
	return err
}

// fits returns an error if a file is too large, before any of it is read.
func fits(f *os.File, most int64) error {
	info, err := f.Stat()
	if err == nil && info.Size() > most {
		return tooLarge(f, most)
	}
	return err
}

func tooLarge(f *os.File, most int64) error {
	return fmt.Errorf("%s is %w: it has more than %d bytes", f.Name(), ErrTooLarge, most)
}

// Write writes a file in the same way as [Replace], and creates missing folders in its name.
func (d *Door) Write(name string, content []byte, perm fs.FileMode) error {
	dir, base := path.Split(path.Clean(name))
	if dir == "" {
		return Replace(d.root, base, content, perm, (*os.File).Sync)
	}
	first, rest, _ := strings.Cut(path.Join(dir, base), "/")
	if err := d.root.Mkdir(first, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	sub, err := d.Into(first)
	if err != nil {
		return err
	}
	defer sub.Close()
	return sub.Write(rest, content, perm)
}

// Names calls f for the names in the folder, in no particular order, until it returns false.
func (d *Door) Names(f func(name string) bool) error {
	return Names(d.root, ".", func(name string) bool { return d.ctx.Err() == nil && f(name) })
}

// An until reads until a context ends.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.r.Read(p)
}

// ReadFile returns a regular file of at most so many bytes that a person has named or written, and
// that another program may have damaged. It may be a link.
func ReadFile(name string, most int64) ([]byte, error) {
	f, err := OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return whole(context.Background(), f, most)
}

// ReadHead returns the first bytes of such a file, at most so many.
func ReadHead(name string, most int64) ([]byte, error) {
	f, err := OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// TailFile returns the last bytes of such a file, at most so many.
func TailFile(name string, most int64) ([]byte, error) {
	f, err := OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return tail(f, most)
}

// OpenFile opens such a file. The caller closes it.
func OpenFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: name, Err: irregular(info)}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// ListDir returns the sorted names in a folder that a person has named.
func ListDir(name string) ([]string, error) {
	d, err := Enter(context.Background(), name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var names []string
	err = d.Names(func(name string) bool { names = append(names, name); return true })
	slices.Sort(names)
	return names, err
}

// OpenRoot opens a folder below another one, without following links below that. The caller closes
// it.
func OpenRoot(dir, below string) (*os.Root, error) {
	d, err := Enter(context.Background(), dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	sub, err := d.Into(below)
	if err != nil {
		return nil, err
	}
	return sub.root, nil
}
