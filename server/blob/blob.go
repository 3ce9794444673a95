// Package blob stores the files that a project publishes and receives. A file has a physical name,
// unique and immutable. Its content appears whole and durable or not at all.
//
// Files are stored in a directory tree (Dir) that spreads them as BOINC does, by a hash of their
// names, so that no folder grows too large and URLs can be computed. Or they are stored in a bucket
// of an S3 service (Bucket). Names never lead out of the tree. The package does not depend on the
// purpose of a file, and does not decide who may have it.
package blob

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/protocol"
)

// ErrDifferent is returned when a name is taken by other content. A name is never used again, since
// hosts keep the file that they once downloaded under it.
var ErrDifferent = errors.New("a different file has this name")

// Fanout is the number of sub-directories, BOINC's default.
const Fanout = 1024

// Folders next to the hashed ones. No hash looks like them.
const (
	tmpDir  = ".tmp"
	partDir = ".part"
	lockDir = ".lock"
)

// A Dir is a Tree in a folder.
type Dir struct {
	root *os.Root
	busy sync.Map // names of parts that are locked
}

// Info has the size and the checksum of a file's content.
type Info struct {
	NBytes int64
	MD5    string // lower-case hex
}

// Made reports whether there is a tree at path. A folder whose disk is not mounted is empty.
func Made(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) > 0
}

// Open opens the tree at path and creates it if it does not exist.
func Open(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{tmpDir, partDir, lockDir} {
		if err := root.MkdirAll(dir, 0o750); err != nil {
			_ = root.Close()
			return nil, err
		}
	}
	d := &Dir{root: root}
	d.sweep(time.Now())
	return d, nil
}

// abandoned is the age from which a temporary file is taken to be left by a process that was killed.
const abandoned = 48 * time.Hour

// sweep removes temporary files and locks that have not changed for long, best effort.
func (d *Dir) sweep(now time.Time) {
	for _, dir := range []string{tmpDir, lockDir} {
		list, err := fs.ReadDir(d.root.FS(), dir)
		if err != nil {
			continue
		}
		for _, e := range list {
			if st, err := e.Info(); err == nil && now.Sub(st.ModTime()) > abandoned {
				_ = d.root.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}

// Close closes the tree. Its files stay.
func (d *Dir) Close() error { return d.root.Close() }

// Path returns a file's path below the tree's root, with slashes. It is also the end of the file's
// URL.
func Path(name string) string { return path.Join(protocol.DirHash(name, Fanout), name) }

func place(name string) (string, error) {
	if err := protocol.ValidFileName(name); err != nil {
		return "", err
	}
	return filepath.FromSlash(Path(name)), nil
}

// Open implements Tree.
func (d *Dir) Open(_ context.Context, name string) (*File, error) {
	p, err := place(name)
	if err != nil {
		return nil, err
	}
	f, err := d.root.Open(p)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &File{f, st.Size(), st.ModTime()}, nil
}

// Locate implements Tree: the path is absolute, whether the file is there or not.
func (d *Dir) Locate(_ context.Context, name string) (string, error) {
	p, err := place(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(d.root.Name(), p))
}

// Size implements Tree.
func (d *Dir) Size(_ context.Context, name string) (int64, error) {
	p, err := place(name)
	if err != nil {
		return 0, err
	}
	st, err := d.root.Stat(p)
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// Sum implements Tree. It reads the file.
func (d *Dir) Sum(ctx context.Context, name string) (Info, error) {
	f, err := d.Open(ctx, name)
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	return SumReader(f)
}

// SumReader returns the size and checksum of the data that r yields.
func SumReader(r io.Reader) (Info, error) {
	h := md5.New()
	n, err := io.Copy(h, r)
	if err != nil {
		return Info{}, err
	}
	return Info{NBytes: n, MD5: hex.EncodeToString(h.Sum(nil))}, nil
}

// Put implements Tree.
func (d *Dir) Put(ctx context.Context, name string, r io.Reader) (Info, error) {
	info, err := d.put(ctx, name, r)
	if err != nil {
		return Info{}, fmt.Errorf("store file %s: %w", name, err)
	}
	return info, nil
}

func (d *Dir) put(ctx context.Context, name string, r io.Reader) (info Info, err error) {
	p, err := place(name)
	if err != nil {
		return Info{}, err
	}
	f, err := os.CreateTemp(filepath.Join(d.root.Name(), tmpDir), "")
	if err != nil {
		return Info{}, err
	}
	tmp := filepath.Join(tmpDir, filepath.Base(f.Name()))
	defer func() {
		_ = f.Close()
		_ = d.root.Remove(tmp)
	}()
	h := md5.New()
	if info.NBytes, err = io.Copy(io.MultiWriter(f, h), r); err != nil {
		return Info{}, err
	}
	info.MD5 = hex.EncodeToString(h.Sum(nil))
	switch old, err := d.Sum(ctx, name); {
	case err == nil && old == info:
		return info, nil
	case err == nil:
		return Info{}, ErrDifferent
	case !errors.Is(err, fs.ErrNotExist):
		return Info{}, err
	}
	if err := f.Chmod(0o644); err != nil {
		return Info{}, err
	}
	if err := f.Sync(); err != nil {
		return Info{}, err
	}
	if err := f.Close(); err != nil {
		return Info{}, err
	}
	// Of several that store a file at once the first wins.
	switch err := d.place(tmp, p); {
	case errors.Is(err, fs.ErrExist):
		if old, err := d.Sum(ctx, name); err != nil || old == info {
			return info, err
		}
		return Info{}, ErrDifferent
	case err != nil:
		return Info{}, err
	}
	return info, nil
}

// unlinked serializes the last step of storing files on systems without hard links.
var unlinked sync.Mutex

// place gives a synced file another name, unless that is taken, and makes that durable.
func (d *Dir) place(from, to string) error {
	if err := d.makeFolder(to); err != nil {
		return err
	}
	switch err := d.root.Link(from, to); {
	case err == nil:
		return atomicfile.SyncDir(filepath.Join(d.root.Name(), filepath.Dir(to)))
	case errors.Is(err, fs.ErrExist):
		return err
	}
	unlinked.Lock()
	defer unlinked.Unlock()
	if _, err := d.root.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return d.move(from, to)
}

// move renames a synced file to its place and makes that durable.
func (d *Dir) move(from, to string) error {
	if err := d.makeFolder(to); err != nil {
		return err
	}
	if err := d.root.Rename(from, to); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Join(d.root.Name(), filepath.Dir(to)))
}

// makeFolder makes the folder of a file.
func (d *Dir) makeFolder(name string) error {
	dir := filepath.Dir(name)
	if _, err := d.root.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.root.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return atomicfile.SyncDir(d.root.Name())
}

// Remove implements Tree.
func (d *Dir) Remove(_ context.Context, name string) error {
	p, err := place(name)
	if err != nil {
		return err
	}
	for _, p := range []string{p, partName(name)} {
		if err := d.root.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
