package image_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/executor/image"
	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/internal/testimage"
	"github.com/starling-grid/starling/protocol"
)

// A bench is a store, and the files of a project.
type bench struct {
	*image.Store
	t              *testing.T
	data, layers   string
	image          protocol.Image
	opened, checks int
}

func newBench(t *testing.T, archives ...[]byte) *bench {
	t.Helper()
	b := &bench{t: t, data: t.TempDir(), layers: t.TempDir()}
	b.reopen()
	for _, a := range archives {
		l, err := testimage.Layer(b.layers, a)
		must(t, err)
		b.image.Layers = append(b.image.Layers, l)
	}
	return b
}

func (b *bench) reopen() {
	b.t.Helper()
	root, err := os.OpenRoot(b.data)
	if err != nil {
		b.t.Fatal(err)
	}
	if b.Store, err = image.Open(root, b.data, "images"); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = b.Close(); _ = root.Close() })
}

func (b *bench) unpack() (string, error) {
	path, done, err := b.Unpack(b.t.Context(), b.image, func() error { b.checks++; return nil }, func(name string) (*os.File, error) {
		b.opened++
		return os.Open(filepath.Join(b.layers, name))
	})
	if err == nil {
		done()
	}
	return path, err
}

// list returns all paths in a folder, with their types and permissions, and links' targets.
func list(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	if err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		line := fmt.Sprintf("%v %q", info.Mode(), rel)
		if target, err := os.Readlink(path); err == nil {
			line += " -> " + target
		}
		all = append(all, line)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

var (
	file   = testimage.File
	of     = testimage.Of
	entry  = func(e ...testimage.Entry) []byte { return testimage.Tar(e...) }
	folder = func(name string) testimage.Entry { return of(tar.TypeDir, name, "") }
	link   = func(name, to string) testimage.Entry { return of(tar.TypeSymlink, name, to) }
	hard   = func(name, to string) testimage.Entry { return of(tar.TypeLink, name, to) }
)

// Layers lie over each other, and whiteouts remove files of lower layers only.
func TestLayers(t *testing.T) {
	const rwx, rw = "-rwxr-xr-x", "-rw-r--r--"
	for name, c := range map[string]struct {
		layers [][]byte
		want   []string
	}{
		"files and folders": {
			[][]byte{entry(folder("./"), folder("bin/"), file("bin/sh", "x", 0o755), file("etc/passwd", "x", 0o600))},
			[]string{`drwxr-xr-x "bin"`, rwx + ` "bin/sh"`, `drwxr-xr-x "etc"`, rw + ` "etc/passwd"`},
		},
		"a later file": {[][]byte{entry(file("a", "1", 0o644)), entry(file("a", "2", 0o755))}, []string{rwx + ` "a"`}},
		"a removed file": {
			[][]byte{entry(file("d/a", "1", 0o644), file("d/b", "1", 0o644)), entry(file("d/.wh.a", "", 0))},
			[]string{`drwxr-xr-x "d"`, rw + ` "d/b"`},
		},
		"a removed folder":      {[][]byte{entry(file("d/e/a", "1", 0o644)), entry(file(".wh.d", "", 0))}, nil},
		"removed and made anew": {[][]byte{entry(file("d/a", "1", 0o644)), entry(file("d", "2", 0o644), file(".wh.d", "", 0))}, []string{rw + ` "d"`}},
		"an opaque folder": {
			[][]byte{entry(file("d/a", "1", 0o644), file("d/e/f", "1", 0o644)), entry(file("d/b", "2", 0o644), file("d/.wh..wh..opq", "", 0))},
			[]string{`drwxr-xr-x "d"`, rw + ` "d/b"`},
		},
		"an opaque root": {[][]byte{entry(file("d/a", "1", 0o644)), entry(file("b", "2", 0o644), file(".wh..wh..opq", "", 0))}, []string{rw + ` "b"`}},
		"nothing to remove": {
			[][]byte{entry(file("a", "1", 0o644)), entry(file(".wh.b", "", 0), file("c/.wh.d", "", 0), file("a/.wh.x", "", 0), file(".wh..wh.plnk", "", 0))},
			[]string{rw + ` "a"`},
		},
		"a folder in place of a file": {[][]byte{entry(file("a", "1", 0o644)), entry(folder("a"), file("a/b", "1", 0o644))}, []string{`drwxr-xr-x "a"`, rw + ` "a/b"`}},
		"a file in place of a folder": {[][]byte{entry(file("a/b/c", "1", 0o644)), entry(file("a", "1", 0o644))}, []string{rw + ` "a"`}},
		"a folder in place of a link": {[][]byte{entry(link("a", "/etc")), entry(folder("a"), file("a/b", "1", 0o644))}, []string{`drwxr-xr-x "a"`, rw + ` "a/b"`}},
		"through a relative link": {
			[][]byte{entry(folder("usr/bin"), link("bin", "usr/bin")), entry(file("bin/x", "1", 0o755))},
			[]string{`Lrwxrwxrwx "bin" -> usr/bin`, `drwxr-xr-x "usr"`, `drwxr-xr-x "usr/bin"`, rwx + ` "usr/bin/x"`},
		},
		"through an absolute link, which starts at the image": {
			[][]byte{entry(folder("run"), link("var/run", "/run")), entry(file("var/run/x", "1", 0o644), file("var/run/.wh.y", "", 0))},
			[]string{`drwxr-xr-x "run"`, rw + ` "run/x"`, `drwxr-xr-x "var"`, `Lrwxrwxrwx "var/run" -> /run`},
		},
		"a hard link": {[][]byte{entry(file("a", "1", 0o755)), entry(hard("d/b", "./a"))}, []string{rwx + ` "a"`, `drwxr-xr-x "d"`, rwx + ` "d/b"`}},
		"a hard link to a link": {
			[][]byte{entry(link("a", "x"), hard("b", "a"))}, []string{`Lrwxrwxrwx "a" -> x`, `Lrwxrwxrwx "b" -> x`},
		},
		"a layer twice": {[][]byte{entry(file("a", "1", 0o644)), entry(file("a", "1", 0o644))}, []string{rw + ` "a"`}},
		"no setuid, no devices": {
			[][]byte{entry(file("su", "x", 0o6755), file("sticky", "x", 0o1644), of(tar.TypeChar, "null", ""), of(tar.TypeBlock, "sda", ""), of(tar.TypeFifo, "pipe", ""))},
			[]string{rw + ` "sticky"`, rwx + ` "su"`},
		},
		"special names": {
			[][]byte{entry(file("a\nb", "1", 0o644), file("\xff\xfe", "1", 0o644), file("-rf *", "1", 0o644), file("a:b|c?", "1", 0o644))},
			[]string{rw + ` "-rf *"`, rw + ` "a\nb"`, rw + ` "a:b|c?"`, rw + ` "\xff\xfe"`},
		},
		"links anywhere are only links": {
			[][]byte{entry(link("a", "../../../../etc/passwd"), link("b", "/etc/shadow"), link("c", "c"))},
			[]string{`Lrwxrwxrwx "a" -> ../../../../etc/passwd`, `Lrwxrwxrwx "b" -> /etc/shadow`, `Lrwxrwxrwx "c" -> c`},
		},
		"a path up stays at the root": {[][]byte{entry(link("d", "../../.."), file("d/x", "1", 0o644))}, []string{`Lrwxrwxrwx "d" -> ../../..`, rw + ` "x"`}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.layers...)
			path, err := b.unpack()
			must(t, err)
			if got, want := list(t, path), strings.Join(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A hostile image is refused for good, quickly and without a trace, and nothing outside of its
// folder is read or changed.
func TestHostileImages(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	must(t, os.WriteFile(secret, []byte("secret"), 0o600))
	before := list(t, outside)
	many := make([]testimage.Entry, 100_000)
	for i := range many {
		many[i] = folder(fmt.Sprint("d", i))
	}
	zeros := make([]byte, 64<<20)
	wrong := func(change func(l *protocol.ImageLayer)) func(*bench) {
		return func(b *bench) { change(&b.image.Layers[0]) }
	}
	raw := func(content []byte) func(*bench) {
		return func(b *bench) {
			name := filepath.Join(b.layers, b.image.Layers[0].FileName())
			if err := os.WriteFile(name, content, 0o600); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	simple := entry(file("a", "1", 0o644))
	for name, c := range map[string]struct {
		layers [][]byte
		change func(*bench)
		want   string
	}{
		"a path up":                    {layers: [][]byte{entry(file("../x", "1", 0o644))}, want: "leads out"},
		"a path up in the middle":      {layers: [][]byte{entry(file("a/../../x", "1", 0o644))}, want: "leads out"},
		"a hard link up":               {layers: [][]byte{entry(hard("a", "../secret"))}, want: "leads out"},
		"a hard link to a file":        {layers: [][]byte{entry(hard("a", secret))}, want: "no such file"},
		"a hard link through a link":   {layers: [][]byte{entry(link("d", outside), hard("a", "d/secret"))}, want: "no such file"},
		"a hard link through many":     {layers: [][]byte{entry(link("d", "../../../../../../.."), hard("a", "d"+secret))}, want: "no such file"},
		"a hard link to a folder":      {layers: [][]byte{entry(folder("d"), hard("a", "d"))}, want: "other than a file"},
		"a hard link to itself":        {layers: [][]byte{entry(file("a", "1", 0o644), hard("a", "./a"))}, want: "to itself"},
		"a file through a link out":    {layers: [][]byte{entry(link("d", outside), file("d/x", "1", 0o644))}, want: "file exists"},
		"a file through a later link":  {layers: [][]byte{entry(link("d", outside)), entry(file("d/secret", "1", 0o644))}, want: "file exists"},
		"a file below a file":          {layers: [][]byte{entry(file("a", "1", 0o644), file("a/b", "1", 0o644))}, want: "not a directory"},
		"a file through a circle":      {layers: [][]byte{entry(link("a", "b"), link("b", "a"), file("a/x", "1", 0o644))}, want: "too many levels"},
		"a whiteout above":             {layers: [][]byte{entry(file(".wh...", "", 0))}, want: "outside of its folder"},
		"a whiteout of nothing":        {layers: [][]byte{entry(file("d/.wh.", "", 0))}, want: "outside of its folder"},
		"a whiteout by a path up":      {layers: [][]byte{entry(file("../.wh.secret", "", 0))}, want: "leads out"},
		"a whiteout through a circle":  {layers: [][]byte{entry(link("a", "a")), entry(file("a/.wh.x", "", 0))}, want: "too many levels"},
		"very deep":                    {layers: [][]byte{entry(folder(strings.Repeat("d/", 100)))}, want: "more than 64 folders"},
		"a very long name":             {layers: [][]byte{entry(folder(strings.Repeat("d", 300)))}, want: "too long"},
		"a very long path":             {layers: [][]byte{entry(folder(strings.Repeat(strings.Repeat("d", 200)+"/", 40)))}, want: "at most 4095"},
		"100 000 files":                {layers: [][]byte{simple, entry(many...)}, change: func(b *bench) { b.Limit(100_000) }, want: "more than 100000 files"},
		"a size that is too small":     {layers: [][]byte{simple}, change: wrong(func(l *protocol.ImageLayer) { l.NBytes -= 512 }), want: "not a complete archive"},
		"another checksum":             {layers: [][]byte{simple}, change: raw(gz(entry(file("a", "2", 0o644)))), want: "SHA-256"},
		"bytes after the end":          {layers: [][]byte{simple}, change: raw(gz(simple, []byte("more"))), want: "SHA-256"},
		"a bomb":                       {layers: [][]byte{simple}, change: raw(gz(zeros)), want: "SHA-256"},
		"a bomb in a file":             {layers: [][]byte{simple}, change: raw(gz(header("a", 1<<40), zeros)), want: "larger than their layer"},
		"a sparse bomb":                {layers: [][]byte{sparse(1 << 50)}, want: "larger than their layer"},
		"no archive":                   {layers: [][]byte{[]byte(strings.Repeat("no archive", 200))}, want: "not a complete archive"},
		"not compressed":               {layers: [][]byte{simple}, change: raw(simple), want: "not a complete archive"},
		"cut off":                      {layers: [][]byte{simple}, change: raw(gz(simple)[:30]), want: "not a complete archive"},
		"empty":                        {layers: [][]byte{simple}, change: raw(nil), want: "not a complete archive"},
		"a socket or an unknown thing": {layers: [][]byte{entry(of('Q', "a", ""))}, want: "unknown type"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.layers...)
			if c.change != nil {
				c.change(b)
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			allocated := m.TotalAlloc
			path, err := b.unpack()
			runtime.ReadMemStats(&m)
			if grown := m.TotalAlloc - allocated; grown > 1<<30 {
				t.Errorf("it took %d MB", grown>>20)
			}
			if !errors.Is(err, image.ErrBroken) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, %v, want an error with %q", path, err, c.want)
			}
			if left := list(t, filepath.Join(b.data, "images")); left != "" {
				t.Errorf("it left %s", left)
			}
		})
	}
	if after := list(t, outside); after != before {
		t.Errorf("a folder outside has changed to %s", after)
	}
}

// gz returns contents, one after the other, as one compressed stream.
func gz(contents ...[]byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for _, c := range contents {
		_, _ = w.Write(c)
	}
	_ = w.Close()
	return b.Bytes()
}

// header returns the first block of a file in an archive.
func header(name string, size int64) []byte {
	var b bytes.Buffer
	_ = tar.NewWriter(&b).WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size})
	return b.Bytes()
}

// sparse returns the archive of a file that is one large hole. The library writes no sparse files, so
// the keys are changed afterwards.
func sparse(size int64) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "hole", Format: tar.FormatPAX, PAXRecords: map[string]string{
		"XXX.sparse.map": fmt.Sprintf("%d,0", size), "XXX.sparse.numblocks": "1", "XXX.sparse.size": fmt.Sprint(size), "XXX.sparse.name": "hole",
	}})
	_ = w.Close()
	return bytes.ReplaceAll(b.Bytes(), []byte("XXX.sparse"), []byte("GNU.sparse"))
}

// An image is unpacked once, again after it was damaged, and removed when it is not needed.
func TestStoreOfImages(t *testing.T) {
	b := newBench(t, entry(file("d/a", "content", 0o644), link("l", "d")))
	path, err := b.unpack()
	must(t, err)
	opened := b.opened
	again := func(when string, want bool) {
		t.Helper()
		before := b.opened
		if _, err := b.unpack(); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if got := b.opened > before; got != want {
			t.Errorf("%s: unpacked again: %v, want %v", when, got, want)
		}
		if text, err := os.ReadFile(filepath.Join(path, "d", "a")); err != nil || string(text) != "content" {
			t.Errorf("%s: it has %q, %v", when, text, err)
		}
	}
	again("at once", false)
	b.reopen()
	again("after a restart", false)
	must(t, os.Mkdir(filepath.Join(path, "proc"), 0o755))
	b.reopen()
	again("after its use", false)
	must(t, os.Truncate(filepath.Join(path, "d", "a"), 3))
	b.reopen()
	again("after damage", true)
	must(t, os.RemoveAll(filepath.Join(path, "d")))
	b.reopen()
	again("after a loss", true)
	must(t, os.Rename(path, path+".part"))
	b.reopen()
	if _, err := os.Stat(path + ".part"); !os.IsNotExist(err) {
		t.Errorf("an incomplete image was left: %v", err)
	}
	again("incomplete", true)
	if opened != 2 || b.checks != 4 {
		t.Errorf("layers were opened %d times, %d checks", opened, b.checks)
	}

	if err := b.Keep(map[string]bool{b.image.ID(): true}); err != nil {
		t.Error(err)
	}
	again("kept", false)
	_, done, err := b.Unpack(t.Context(), b.image, nil, nil)
	must(t, err)
	if err := b.Keep(nil); err != nil {
		t.Error(err)
	}
	again("in use", false)
	done()
	if err := b.Keep(nil); err != nil {
		t.Error(err)
	}
	if left := list(t, filepath.Join(b.data, "images")); left != "" {
		t.Errorf("an image that is not needed was left: %s", left)
	}
	again("needed once more", true)
}

// Trouble of this computer is not the image's fault, so it is unpacked later.
func TestTroubleWhileUnpacking(t *testing.T) {
	b := newBench(t, entry(file("a", "1", 0o644)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	open := func(name string) (*os.File, error) { return os.Open(filepath.Join(b.layers, name)) }
	good := func() error { return nil }
	if _, _, err := b.Unpack(ctx, b.image, good, open); !errors.Is(err, context.Canceled) || errors.Is(err, image.ErrBroken) {
		t.Errorf("at the agent's end: %v", err)
	}
	if _, _, err := b.Unpack(t.Context(), b.image, good, func(string) (*os.File, error) { return nil, os.ErrNotExist }); !errors.Is(err, os.ErrNotExist) || errors.Is(err, image.ErrBroken) {
		t.Errorf("without its layer: %v", err)
	}
	if _, _, err := b.Unpack(t.Context(), b.image, func() error { return io.ErrUnexpectedEOF }, open); !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, image.ErrBroken) {
		t.Errorf("with a wrong checksum: %v", err)
	}
	if _, err := b.unpack(); err != nil {
		t.Error(err)
	}
}

// Interpreters compare the times of files to those in their caches.
func TestTimesOfFiles(t *testing.T) {
	at := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	f := file("a", "1", 0o644)
	f.ModTime = at
	path, err := newBench(t, entry(f)).unpack()
	must(t, err)
	if st, err := os.Stat(filepath.Join(path, "a")); err != nil || !st.ModTime().Equal(at) {
		t.Errorf("got %v, %v", st.ModTime(), err)
	}
}

var must = testerr.Must
