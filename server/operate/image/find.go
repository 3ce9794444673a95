package image

import (
	"archive/tar"
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"strings"
)

// defaultPath is where programs of an image are if it does not state a PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Find returns the path of a program in the PATH of the image, or an error. It reads the lists of files in all
// layers.
func (m *Image) Find(program string) (string, error) {
	f := files{make(map[string]bool), make(map[string]string)}
	for i := range m.Description.Layers {
		if err := m.addFiles(&f, i); err != nil {
			return "", fmt.Errorf("image %s: %w", m.Name, err)
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
		if name := path.Join("/", dir, program); f.executable(name) {
			return name, nil
		}
	}
	return "", fmt.Errorf("image %s has no program %s in its PATH (%s)", m.Name, program, where)
}

// files are the regular files and the links in the layers of an image.
type files struct {
	regular map[string]bool   // by path, from "/": whether it is executable
	links   map[string]string // targets by path
}

// addFiles puts layer i over the files of the lower ones.
func (m *Image) addFiles(below *files, i int) error {
	layer := files{make(map[string]bool), make(map[string]string)}
	gone := make(removals)
	folders := make(map[string]bool)
	err := m.each(i, func(name string, h *tar.Header, _ io.Reader) error {
		switch {
		case gone.add(name):
		case h.Typeflag == tar.TypeReg:
			layer.regular[name] = h.Mode&0o111 != 0
		case h.Typeflag == tar.TypeSymlink:
			layer.links[name] = h.Linkname
		case h.Typeflag == tar.TypeLink:
			layer.links[name] = path.Join("/", h.Linkname) //nolint:gosec // the file is not written
		case h.Typeflag == tar.TypeDir:
			folders[name] = true
		}
		return nil
	})
	if len(gone) > 0 {
		below.remove(gone)
	}
	for name := range folders {
		delete(below.links, name)
	}
	for name, executable := range layer.regular {
		delete(below.links, name)
		below.regular[name] = executable
	}
	for name, target := range layer.links {
		delete(below.regular, name)
		below.links[name] = target
	}
	return err
}

func (f *files) remove(gone removals) {
	maps.DeleteFunc(f.regular, func(p string, _ bool) bool { return gone.covers(p) })
	maps.DeleteFunc(f.links, func(p, _ string) bool { return gone.covers(p) })
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
