package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/atomicfile"
)

// An entry is a file of a backup.
type entry struct {
	name     string // with slashes
	size     int64
	mode     fs.FileMode
	modified time.Time
}

// A sink takes the files of a backup, one after the other.
type sink interface {
	// put stores a file. r yields exactly e.size bytes.
	put(e entry, r io.Reader) error
	// finish makes all of it durable, under its name.
	finish() error
	// drop removes the data written so far, after an error.
	drop()
	// scratch returns a path on the same disk for a file that is not of the backup.
	scratch() string
}

// isArchive distinguishes files from folders by their names.
func isArchive(name string) bool {
	return strings.HasSuffix(name, ".tar") || isZipped(name)
}

func isZipped(name string) bool {
	return strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz")
}

// newSink begins a backup at to, which does not exist, or is an empty folder.
func newSink(to string) (sink, error) {
	switch {
	case isArchive(to):
		return newArchive(to)
	case otherArchive.MatchString(to):
		return nil, fmt.Errorf("%s: backups are folders, or files whose names end with .tar, .tar.gz or .tgz", to)
	}
	return newFolder(to)
}

// otherArchive matches names with which people mean another kind of file.
var otherArchive = regexp.MustCompile(`(?i)\.(zip|7z|rar|tar\.[a-z0-9]+|tb2|tbz2?|txz|tzst|gz|bz2|xz|zst)$`)

// A folder is a backup in a folder.
type folder struct {
	dir  string
	made bool // by us
	dirs map[string]bool
}

func newFolder(dir string) (*folder, error) {
	switch entries, err := os.ReadDir(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return &folder{dir: dir, made: true, dirs: make(map[string]bool)}, os.Mkdir(dir, 0o700) // keys are in it
	case err != nil:
		return nil, err
	case len(entries) > 0:
		return nil, fmt.Errorf("%s is not empty: each backup needs its own folder, or a file .tar or .tar.gz", dir)
	}
	return &folder{dir: dir, dirs: make(map[string]bool)}, nil
}

func (f *folder) scratch() string { return filepath.Join(f.dir, "database.tmp") }

func (f *folder) put(e entry, r io.Reader) error {
	path := filepath.Join(f.dir, filepath.FromSlash(e.name))
	if dir := filepath.Dir(path); !f.dirs[dir] {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		f.dirs[dir] = true
	}
	return writeFile(path, e, r)
}

// writeFile makes a file that does not exist, with its time, and makes it durable.
func writeFile(path string, e entry, r io.Reader) (err error) {
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, e.mode.Perm())
	if err != nil {
		return err
	}
	defer func() {
		if cerr := w.Close(); err == nil {
			err = cerr
		}
		if err == nil && !e.modified.IsZero() {
			err = os.Chtimes(path, time.Time{}, e.modified)
		}
	}()
	switch n, err := io.Copy(w, r); {
	case err != nil:
		return err
	case n != e.size:
		return fmt.Errorf("%s: %d bytes, want %d", e.name, n, e.size)
	}
	return w.Sync()
}

func (f *folder) finish() error {
	for dir := range f.dirs {
		if err := atomicfile.SyncDir(dir); err != nil {
			return err
		}
	}
	return atomicfile.SyncDir(f.dir)
}

func (f *folder) drop() {
	if f.made {
		_ = os.RemoveAll(f.dir)
		return
	}
	entries, _ := os.ReadDir(f.dir)
	for _, e := range entries {
		_ = os.RemoveAll(filepath.Join(f.dir, e.Name()))
	}
}

// An archive is a backup in a file of tar.
type archive struct {
	path string
	f    *os.File
	z    *gzip.Writer // nil: not compressed
	t    *tar.Writer
}

func newArchive(path string) (*archive, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s exists already", path)
	}
	// A file with this name is not taken for a backup.
	f, err := os.OpenFile(path+".partial", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s.partial exists: another backup is being written there, or was interrupted; remove it in that case", path)
	}
	if err != nil {
		return nil, err
	}
	a := &archive{path: path, f: f}
	var w io.Writer = f
	if isZipped(path) {
		a.z = gzip.NewWriter(f)
		w = a.z
	}
	a.t = tar.NewWriter(w)
	return a, nil
}

func (a *archive) scratch() string { return a.path + ".database.tmp" }

func (a *archive) put(e entry, r io.Reader) error {
	err := a.t.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: e.name, Size: e.size, Mode: int64(e.mode.Perm()), ModTime: e.modified, Format: tar.FormatPAX,
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(a.t, r)
	return err
}

func (a *archive) finish() error {
	if err := a.t.Close(); err != nil {
		return err
	}
	if a.z != nil {
		if err := a.z.Close(); err != nil {
			return err
		}
	}
	if err := a.f.Close(); err != nil {
		return err
	}
	return atomicfile.Rename(a.path+".partial", a.path)
}

func (a *archive) drop() {
	_ = a.f.Close()
	_ = os.Remove(a.path + ".partial")
}

// A tally puts files into a sink and keeps their checksums.
type tally struct {
	sink
	sums  sums
	files int
	bytes int64
}

func (t *tally) put(e entry, r io.Reader) error {
	if _, twice := t.sums[e.name]; twice {
		return fmt.Errorf("%s is in the backup twice", e.name)
	}
	h := sha256.New()
	if err := t.sink.put(e, io.TeeReader(r, h)); err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	t.sums[e.name] = [32]byte(h.Sum(nil))
	t.files++
	t.bytes += e.size
	return nil
}

func (t *tally) putBytes(e entry, b []byte) error {
	e.size = int64(len(b))
	return t.put(e, bytes.NewReader(b))
}
