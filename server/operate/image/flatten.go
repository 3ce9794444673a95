package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"strings"

	"github.com/starling-grid/starling/protocol"
)

// Names of entries that remove files of lower layers.
//
// Source: OCI's image specification, layer.md.
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

// removals are the paths below which a layer removes all entries. A path that is true is removed itself, too.
type removals map[string]bool

// add adds the removal that an entry means. It returns false for all other entries.
func (r removals) add(name string) bool {
	dir, base := path.Split(name)
	if base == opaque {
		if dir = path.Clean(dir); !r[dir] {
			r[dir] = false
		}
		return true
	}
	base, is := strings.CutPrefix(base, whiteout)
	if is {
		r[dir+base] = true
	}
	return is
}

func (r removals) covers(p string) bool {
	if r[p] {
		return true
	}
	for p != "/" {
		p = path.Dir(p)
		if _, ok := r[p]; ok {
			return true
		}
	}
	return false
}

// each calls f for the entries of layer i, with their paths from "/". It reads the layer to its end.
func (m *Image) each(i int, f func(name string, h *tar.Header, content io.Reader) error) error {
	content, err := m.Layer(i)
	if err != nil {
		return err
	}
	defer content.Close()
	archive := tar.NewReader(content)
	for n := 0; ; n++ {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, content)
			return err
		}
		if err != nil {
			return err
		}
		if n == protocol.MaxImageFiles {
			return fmt.Errorf("it has more than %d files", n)
		}
		if err := f(path.Join("/", h.Name), h, archive); err != nil { //nolint:gosec // no file is written
			return err
		}
	}
}

// A Flat is an image as one layer.
type Flat struct {
	image *Image
	from  map[string]int // the layer that has the entry of a path
}

// Flatten returns the image as one layer if entries of its layers remove files of lower ones, else nil.
func (m *Image) Flatten() (*Flat, error) {
	from := make(map[string]int)
	removes := false
	for i := range m.Description.Layers {
		var own []string
		gone := make(removals)
		err := m.each(i, func(name string, _ *tar.Header, _ io.Reader) error {
			if !gone.add(name) {
				own = append(own, name)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", m.Name, err)
		}
		if len(gone) > 0 {
			removes = true
			maps.DeleteFunc(from, func(p string, _ int) bool { return gone.covers(p) })
		}
		for _, name := range own {
			from[name] = i
		}
	}
	if !removes {
		return nil, nil
	}
	return &Flat{m, from}, nil
}

// Write writes the archive of the layer.
func (f *Flat) Write(to io.Writer) error {
	w := tar.NewWriter(to)
	for i := range f.image.Description.Layers {
		err := f.image.each(i, func(name string, h *tar.Header, content io.Reader) error {
			if at, ok := f.from[name]; !ok || at != i {
				return nil
			}
			if target := path.Join("/", h.Linkname); h.Typeflag == tar.TypeLink && f.from[target] != i { //nolint:gosec // likewise
				return fmt.Errorf("%s is the same file as %s, which another layer replaces: build the image in one layer, for example with podman build --squash-all", name, target)
			}
			if err := w.WriteHeader(h); err != nil {
				return err
			}
			_, err := io.Copy(w, content)
			return err
		})
		if err != nil {
			return fmt.Errorf("image %s: %w", f.image.Name, err)
		}
	}
	return w.Close()
}
