// Package image unpacks container images for tasks. Projects make the images, so their layers
// are read as hostile: nothing is written outside of the image's folder, and the number of files,
// their size and their depth are limited. It contains only regular files, folders and links. Owners,
// devices and the bits that give a program other rights are left out.
//
// The package does not run programs. A task sees an image read-only, see [sandbox.Policy].
//
// [sandbox.Policy]: https://pkg.go.dev/github.com/starling-grid/starling/executor/sandbox#Policy
package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol"
)

// ErrBroken means that an image can never be unpacked, because of its contents.
var ErrBroken = errors.New("the image is broken")

// A Store is the folder of unpacked images. Its methods may be called from any goroutine.
type Store struct {
	root  *os.Root
	path  string
	files int // maximum number in an image

	mu     sync.Mutex
	images map[string]*entry // by ID
}

// An entry is unpacked by one goroutine at a time.
type entry struct {
	mu    sync.Mutex
	whole bool // it was found complete since this program started
	used  int  // guarded by the Store
}

// Suffixes of names in the folder.
const (
	part   = ".part" // an image that is being unpacked
	record = ".txt"  // the size of a complete image
)

// Open returns the store in a folder below root, and creates it if necessary. path is its absolute
// path. Incomplete images are removed.
func Open(root *os.Root, path, name string) (*Store, error) {
	if err := root.MkdirAll(name, 0o711); err != nil {
		return nil, err
	}
	dir, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	s := &Store{root: dir, path: filepath.Join(path, name), files: protocol.MaxImageFiles, images: make(map[string]*entry)}
	var left []string
	err = foreigndir.Names(dir, ".", func(name string) bool {
		if strings.HasSuffix(name, part) {
			left = append(left, name)
		}
		return true
	})
	for _, name := range left {
		err = errors.Join(err, foreigndir.RemoveAll(dir, name))
	}
	if err != nil {
		_ = dir.Close()
		return nil, fmt.Errorf("open the folder of images: %w", err)
	}
	return s, nil
}

// Close frees the store's resources.
func (s *Store) Close() error { return s.root.Close() }

// Layers opens the layers of an image by their file names.
type Layers func(name string) (*os.File, error)

// Unpack returns the path of the image's folder, and unpacks it if it is not there or no longer
// complete. The image is not removed until done is called. An ErrBroken is the image's fault.
// Before the layers are read, check is called.
func (s *Store) Unpack(ctx context.Context, m protocol.Image, check func() error, open Layers) (path string, done func(), err error) {
	id := m.ID()
	e := s.take(id)
	defer func() {
		if err != nil {
			s.give(e)
		}
	}()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.whole && !s.complete(id) {
		if err := check(); err != nil {
			return "", nil, err
		}
		if err := s.unpack(ctx, m, open); err != nil {
			return "", nil, fmt.Errorf("unpack the image: %w", err)
		}
	}
	e.whole = true
	return filepath.Join(s.path, id), sync.OnceFunc(func() { s.give(e) }), nil
}

func (s *Store) take(id string) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.images[id]
	if e == nil {
		e = new(entry)
		s.images[id] = e
	}
	e.used++
	return e
}

func (s *Store) give(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.used--
}

func (s *Store) unpack(ctx context.Context, m protocol.Image, open Layers) (err error) {
	id := m.ID()
	for _, name := range []string{id + record, id + part, id} {
		if err := foreigndir.RemoveAll(s.root, name); err != nil {
			return err
		}
	}
	if err := s.root.Mkdir(id+part, 0o755); err != nil {
		return err
	}
	if err := s.root.Chmod(id+part, 0o755); err != nil { // whatever the umask is
		return err
	}
	defer func() {
		if err != nil {
			_ = foreigndir.RemoveAll(s.root, id+part)
		}
	}()
	to := filepath.Join(s.path, id+part)
	if err := unpack(ctx, to, m, s.files, open); err != nil {
		return err
	}
	if err := s.root.Rename(id+part, id); err != nil {
		return err
	}
	return foreigndir.Replace(s.root, id+record, []byte(measure(filepath.Join(s.path, id))), 0o644, (*os.File).Sync)
}

// complete reports whether an image has all its files. A power failure or a disk may have lost
// some.
func (s *Store) complete(id string) bool {
	text, err := foreigndir.Read(s.root, id+record, 100)
	return err == nil && string(text) == measure(filepath.Join(s.path, id))
}

// measure returns the number and size of all files in a folder. Empty files do not count, since
// the sandbox makes some where the system's files are shown.
func measure(dir string) string {
	files, bytes := 0, int64(0)
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // then some are missing
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			files++
			bytes += info.Size()
		}
		return nil
	})
	return fmt.Sprintf("%d files, %d bytes\n", files, bytes)
}

// Keep removes all images except those with these IDs and those in use.
func (s *Store) Keep(ids map[string]bool) error {
	var names []string
	err := foreigndir.Names(s.root, ".", func(name string) bool {
		if !strings.HasSuffix(name, part) { // it is being unpacked
			names = append(names, name)
		}
		return true
	})
	for _, name := range names {
		if id := strings.TrimSuffix(name, record); !ids[id] {
			err = errors.Join(err, s.remove(id, name))
		}
	}
	return err
}

func (s *Store) remove(id, name string) error {
	e := s.take(id)
	defer s.give(e)
	e.mu.Lock()
	defer e.mu.Unlock()
	s.mu.Lock()
	others := e.used > 1
	s.mu.Unlock()
	if others {
		return nil
	}
	e.whole = false
	return foreigndir.RemoveAll(s.root, name)
}
