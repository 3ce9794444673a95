package image_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/starling-grid/starling/internal/testimage"
	"github.com/starling-grid/starling/server/operate/image"
)

// A program is found in the PATH of an image as it is when all layers are unpacked.
func TestPrograms(t *testing.T) {
	file := func(name string) testimage.Entry { return testimage.File(name, "x", 0o755) }
	link := func(name, to string) testimage.Entry { return testimage.Of(tar.TypeSymlink, name, to) }
	python := file("usr/bin/python3.13")
	type layers [][]testimage.Entry
	for name, c := range map[string]struct {
		path   string
		layers layers
		want   bool
	}{
		"a file":                         {"", layers{{file("bin/python3")}}, true},
		"in another folder":              {"", layers{{file("opt/python3")}}, false},
		"in its PATH":                    {"/opt:/bin", layers{{file("opt/python3")}}, true},
		"not in its PATH":                {"/opt", layers{{file("bin/python3")}}, false},
		"not executable":                 {"", layers{{testimage.File("bin/python3", "x", 0o644)}}, false},
		"a link":                         {"", layers{{python, link("usr/bin/python3", "python3.13")}}, true},
		"an absolute link":               {"", layers{{link("bin/python3", "/usr/bin/python3.13")}, {python}}, true},
		"a link that leads nowhere":      {"", layers{{link("bin/python3", "/usr/bin/python3.13")}}, false},
		"a link to a folder":             {"", layers{{link("bin", "usr/bin"), file("usr/bin/python3")}}, true},
		"a hard link":                    {"", layers{{python, testimage.Of(tar.TypeLink, "bin/python3", "usr/bin/python3.13")}}, true},
		"a circle":                       {"", layers{{link("bin/python3", "python"), link("bin/python", "python3")}}, false},
		"a link out of the image":        {"", layers{{link("bin/python3", "../../../../usr/bin/python3.13"), python}}, true},
		"removed":                        {"", layers{{file("bin/python3")}, {file("bin/.wh.python3")}}, false},
		"removed and made again":         {"", layers{{file("bin/python3")}, {file("bin/.wh.python3"), file("usr/bin/python3")}}, true},
		"its folder removed":             {"", layers{{file("bin/python3")}, {file(".wh.bin")}}, false},
		"its folder emptied":             {"", layers{{file("bin/python3")}, {file("bin/.wh..wh..opq"), file("bin/sh")}}, false},
		"its folder emptied by its own":  {"", layers{{file("bin/sh")}, {file("bin/python3"), file("bin/.wh..wh..opq")}}, true},
		"made in the layer that empties": {"", layers{{file("bin/python3")}, {file("bin/.wh..wh..opq"), file("bin/python3")}}, true},
		"a folder in place of a link":    {"", layers{{link("bin", "usr/bin"), file("usr/bin/python3")}, {testimage.Of(tar.TypeDir, "bin", "")}}, true},
		"the same, not in its PATH":      {"/bin", layers{{link("bin", "usr/bin"), file("usr/bin/python3")}, {testimage.Of(tar.TypeDir, "bin", "")}}, false},
		"a link in place of a file":      {"", layers{{file("bin/python3")}, {link("bin/python3", "none")}}, false},
	} {
		config := v1.Config{Cmd: []string{"/fit"}}
		where := "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
		if c.path != "" {
			config.Env, where = []string{"PATH=" + c.path}, c.path
		}
		var contents [][]byte
		for _, l := range c.layers {
			contents = append(contents, testimage.Tar(l...))
		}
		path := filepath.Join(t.TempDir(), "image.tar")
		must(t, testimage.Docker(path, "amd64", config, contents...))
		m, err := image.Open(t.Context(), path, platform)
		must(t, err)
		_, err = m.Find("python3")
		m.Close()
		if c.want != (err == nil) || err != nil && !strings.Contains(err.Error(), "has no program python3 in its PATH ("+where+")") {
			t.Errorf("%s: got %v, want found %v", name, err, c.want)
		}
	}
}

// An image whose layers remove files of lower ones becomes one layer with the files that are left.
func TestFlatten(t *testing.T) {
	file := func(name, content string) testimage.Entry { return testimage.File(name, content, 0o644) }
	hard := func(name, to string) testimage.Entry { return testimage.Of(tar.TypeLink, name, to) }
	open := func(layers ...[]testimage.Entry) *image.Image {
		t.Helper()
		var contents [][]byte
		for _, l := range layers {
			contents = append(contents, testimage.Tar(l...))
		}
		path := filepath.Join(t.TempDir(), "image.tar")
		must(t, testimage.Docker(path, "amd64", v1.Config{Cmd: []string{"/fit"}}, contents...))
		m, err := image.Open(t.Context(), path, platform)
		must(t, err)
		t.Cleanup(m.Close)
		return m
	}
	if flat, err := open([]testimage.Entry{file("a", "1")}, []testimage.Entry{file("a", "2")}).Flatten(); flat != nil || err != nil {
		t.Errorf("nothing is removed: %v, %v", flat, err)
	}
	flat, err := open(
		[]testimage.Entry{file("a", "1"), file("b", "1"), file("d/e", "1"), file("o/p", "1"), file("x", "1"), hard("y", "x")},
		[]testimage.Entry{file(".wh.a", ""), file("b", "2"), file(".wh.d", ""), file("o/q", "2"), file("o/.wh..wh..opq", "")},
		[]testimage.Entry{file("d", "3")},
	).Flatten()
	if err != nil || flat == nil {
		t.Fatalf("%v, %v", flat, err)
	}
	var b bytes.Buffer
	must(t, flat.Write(&b))
	got := ""
	for r := tar.NewReader(&b); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		content, err := io.ReadAll(r)
		must(t, err)
		got += fmt.Sprintf("%s=%s%s ", h.Name, content, h.Linkname)
	}
	if want := "x=1 y=x b=2 o/q=2 d=3 "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	flat, err = open([]testimage.Entry{file("x", "1"), hard("y", "x"), file("z", "")}, []testimage.Entry{file("x", "2"), file(".wh.z", "")}).Flatten()
	must(t, err)
	if err := flat.Write(io.Discard); err == nil || !strings.Contains(err.Error(), "podman build --squash-all") {
		t.Errorf("a file with two names, of which one is replaced: %v", err)
	}
}
