package workgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/store"
)

// staged remembers a file that was put in place, so that a file shared by many
// workunits is read once.
type staged struct {
	size int64
	time time.Time
	info protocol.FileInfo
}

// stage puts a file into download/ under a name made from its own and its
// content, so that the name is unique and its content never changes.
func (g *Generator) stage(ctx context.Context, from Given) (protocol.FileInfo, error) {
	if from.placed != nil {
		return *from.placed, nil
	}
	st, err := os.Stat(from.Path)
	if err != nil {
		return protocol.FileInfo{}, fmt.Errorf("input file: %w", err)
	}
	if !st.Mode().IsRegular() {
		return protocol.FileInfo{}, fmt.Errorf("input file %s: not a file", from.Path)
	}
	s, ok := g.staged[from.Path]
	if !ok || s.size != st.Size() || !s.time.Equal(st.ModTime()) {
		s = staged{size: st.Size(), time: st.ModTime()}
		if s.info, err = g.place(ctx, from); err != nil {
			return protocol.FileInfo{}, err
		}
		g.staged[from.Path] = s
	}
	return s.info, nil
}

// together is the number of files that are put into download/ at a time. A file system takes little
// longer to make several durable than to make one.
const together = 32

// placeAll puts the files whose content is given into download/.
func (g *Generator) placeAll(ctx context.Context, specs []Spec) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(together)
	for _, spec := range specs {
		for i := range spec.Inputs {
			from := &spec.Inputs[i]
			if from.Content == nil || from.placed != nil || ctx.Err() != nil {
				continue
			}
			group.Go(func() error {
				info, err := g.place(ctx, *from)
				if err == nil {
					from.placed = &info
				}
				return err
			})
		}
	}
	return group.Wait()
}

// place puts a file into download/ if it is not there yet.
func (g *Generator) place(ctx context.Context, from Given) (protocol.FileInfo, error) {
	name, info, err := from.physical()
	if err != nil {
		return protocol.FileInfo{}, fmt.Errorf("input file %s: %w", from.Path, err)
	}
	if _, err := g.download.Size(ctx, name); err != nil {
		g.freshMu.Lock()
		g.fresh = append(g.fresh, name)
		g.freshMu.Unlock()
		if err := from.put(ctx, g.download, name); err != nil {
			return protocol.FileInfo{}, err
		}
	}
	return protocol.FileInfo{Name: name, NBytes: info.NBytes, MD5: info.MD5}, nil
}

// Clear deletes the files that the Generator has put into download/ and that no workunit needs, as after an
// error of Create.
func (g *Generator) Clear(ctx context.Context) error {
	list := g.fresh
	g.fresh, g.staged, g.packed = nil, make(map[string]staged), make(map[string]int64)
	if len(list) == 0 {
		return nil
	}
	return g.store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.LockFiles(); err != nil {
			return err
		}
		for _, name := range list {
			needed, err := tx.FileNeeded(name)
			for _, file := range []string{name, blob.Packed(name)} {
				if err == nil && !needed {
					err = g.download.Remove(ctx, file)
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// open opens a local file.
func (from Given) open() (io.ReadCloser, error) {
	if from.Content != nil {
		return io.NopCloser(from.Content()), nil
	}
	return os.Open(from.Path)
}

func (from Given) put(ctx context.Context, d Files, name string) error {
	f, err := from.open()
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = d.Put(ctx, name, f)
	return err
}

// PhysicalName returns the name under which a file is published, which is its stem, 16 digits of
// its MD5 and its extension. It also returns the size and checksum of the file.
func PhysicalName(path string) (string, blob.Info, error) { return Given{Path: path}.physical() }

func (from Given) physical() (string, blob.Info, error) {
	f, err := from.open()
	if err != nil {
		return "", blob.Info{}, err
	}
	defer f.Close()
	info, err := blob.SumReader(f)
	if err != nil {
		return "", blob.Info{}, err
	}
	return physical(filepath.Base(from.Path), info.MD5), info, nil
}

// physical returns the physical name of a file with the original name base.
func physical(base, md5 string) string {
	base = safe(base)
	ext := filepath.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	return stem[:min(len(stem), 100)] + "_" + md5[:16] + ext[:min(len(ext), 20)]
}

// safe replaces characters that BOINC's clients, URLs or file systems do not accept in names.
func safe(name string) string {
	b := []byte(name)
	for i, c := range b {
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alnum && c != '.' && c != '-' && c != '_' {
			b[i] = '_'
		}
	}
	name = strings.Trim(strings.ReplaceAll(string(b), "..", "_"), ".")
	if name == "" {
		return "file"
	}
	return name
}

// ensure puts a file and its compressed copy back that were deleted since it was staged.
func (g *Generator) ensure(ctx context.Context, f protocol.FileInfo, from Given) error {
	switch n, err := g.download.Size(ctx, f.Name); {
	case err == nil && n == f.NBytes:
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case from.Path == "" || from.Kind != Local:
		return fmt.Errorf("file %s is not in download/", f.Name)
	default:
		if err := from.put(ctx, g.download, f.Name); err != nil {
			return err
		}
	}
	if f.GzippedNBytes == 0 {
		return nil
	}
	_, err := g.download.Size(ctx, blob.Packed(f.Name))
	if errors.Is(err, fs.ErrNotExist) {
		_, err = compress(ctx, g.download, f.Name)
	}
	return err
}
