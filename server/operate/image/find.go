package image

import (
	"archive/tar"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/starling-grid/starling/protocol"
)

// defaultPath is where programs of an image are if it does not state a PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// CheckProgram returns an error unless a program is in the PATH of the image. It reads the lists of files in
// all layers.
func (m *Image) CheckProgram(program string) error {
	f := files{make(map[string]bool), make(map[string]string)}
	for i := range m.Description.Layers {
		if err := m.addFiles(&f, i); err != nil {
			return fmt.Errorf("image %s: %w", m.Name, err)
		}
	}
	where := ""
	for _, v := range m.Description.Env {
		if value, ok := strings.CutPrefix(v, "PATH="); ok {
			where = value
		}
	}
	where = cmp.Or(where, defaultPath)
	for dir := range strings.SplitSeq(where, ":") {
		if f.executable(path.Join("/", dir, program)) {
			return nil
		}
	}
	return fmt.Errorf("image %s has no program %s in its PATH (%s)", m.Name, program, where)
}

// files are the regular files and the links in the layers of an image.
type files struct {
	regular map[string]bool   // by path, from "/": whether it is executable
	links   map[string]string // targets by path
}

// Names of entries that remove files of lower layers.
//
// Source: OCI's image specification, layer.md.
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

// addFiles puts layer i over the files of the lower ones.
func (m *Image) addFiles(below *files, i int) error {
	content, err := m.Layer(i)
	if err != nil {
		return err
	}
	defer content.Close()
	layer := files{make(map[string]bool), make(map[string]string)}
	archive := tar.NewReader(content)
	for n := 0; ; n++ {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if n == protocol.MaxImageFiles {
			return fmt.Errorf("it has more than %d files", n)
		}
		name := path.Join("/", h.Name) //nolint:gosec // the file is not written
		dir, base := path.Split(name)
		switch {
		case base == opaque:
			below.remove(path.Clean(dir), false)
		case strings.HasPrefix(base, whiteout):
			below.remove(dir+strings.TrimPrefix(base, whiteout), true)
		case h.Typeflag == tar.TypeReg:
			layer.regular[name] = h.Mode&0o111 != 0
		case h.Typeflag == tar.TypeSymlink:
			layer.links[name] = h.Linkname
		case h.Typeflag == tar.TypeLink:
			layer.links[name] = path.Join("/", h.Linkname) //nolint:gosec // likewise
		case h.Typeflag == tar.TypeDir:
			delete(below.links, name)
		}
	}
	for name, executable := range layer.regular {
		delete(below.links, name)
		below.regular[name] = executable
	}
	for name, target := range layer.links {
		delete(below.regular, name)
		below.links[name] = target
	}
	return nil
}

// remove removes all entries below a path, and if itself is set, also the path.
func (f *files) remove(name string, itself bool) {
	gone := func(p string) bool {
		return itself && p == name || strings.HasPrefix(p, strings.TrimSuffix(name, "/")+"/")
	}
	for p := range f.regular {
		if gone(p) {
			delete(f.regular, p)
		}
	}
	for p := range f.links {
		if gone(p) {
			delete(f.links, p)
		}
	}
}

// executable reports whether a path leads to an executable file.
func (f *files) executable(name string) bool {
	const most = 40 // links, as in Linux
	for range most {
		next, ok := f.follow(name)
		if !ok {
			return f.regular[name]
		}
		name = next
	}
	return false
}

// follow replaces the first link of a path by its target. It returns false for a path without links.
func (f *files) follow(name string) (string, bool) {
	for i := 1; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		target, ok := f.links[name[:i]]
		if !ok {
			continue
		}
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(name[:i]), target)
		}
		return path.Join("/", target, name[i:]), true
	}
	return name, false
}
