//go:build unix

package foreigndir_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/testerr"
	"golang.org/x/sys/unix"
)

func newRoot(t *testing.T) (root *os.Root, dir string) {
	t.Helper()
	dir = t.TempDir()
	root, err := os.OpenRoot(dir)
	must(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return root, dir
}

// Something that is not a file is refused at once by all functions that read, and replaced by those
// that write.
func TestWhatIsNoFile(t *testing.T) {
	root, dir := newRoot(t)
	make := map[string]func(string) error{
		"fifo":   func(p string) error { return unix.Mkfifo(p, 0o666) },
		"folder": func(p string) error { return os.MkdirAll(filepath.Join(p, "a/b"), 0o700) },
		"socket": func(p string) error { return unix.Mknod(p, unix.S_IFSOCK|0o666, 0) },
		"link out": func(p string) error {
			return os.Symlink("/etc/passwd", p)
		},
		"link to a device": func(p string) error { return os.Symlink("/dev/zero", p) },
		"link to itself":   func(p string) error { return os.Symlink(filepath.Base(p), p) },
	}
	for name, f := range make {
		t.Run(name, func(t *testing.T) {
			again := func() {
				t.Helper()
				must(t, foreigndir.RemoveAll(root, "it"))
				must(t, f(filepath.Join(dir, "it")))
			}
			again()
			if text, err := foreigndir.Read(root, "it", 10); err == nil {
				t.Errorf("it was read: %q", text)
			}
			if text, err := foreigndir.Tail(root, "it", 10); err == nil {
				t.Errorf("its end was read: %q", text)
			}
			if err := foreigndir.Replace(root, "it", []byte("new"), 0o600, nil); err != nil {
				t.Error(err)
			}
			again()
			if a, err := foreigndir.Append(root, "it", 0o600); err != nil {
				t.Error(err)
			} else if _, err := a.WriteString("new"); errors.Join(err, a.Close()) != nil {
				t.Error(err)
			}
			again()
			must(t, os.Rename(filepath.Join(dir, "it"), filepath.Join(dir, foreigndir.Temp)))
			if err := foreigndir.Replace(root, "it", []byte("new"), 0o600, nil); err != nil {
				t.Errorf("in place of the temporary file: %v", err)
			}
			if text, err := foreigndir.Read(root, "it", 10); err != nil || string(text) != "new" {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
}

func TestHugeFileIsReadInPart(t *testing.T) {
	root, dir := newRoot(t)
	path := filepath.Join(dir, "sparse")
	must(t, os.WriteFile(path, []byte("head"), 0o600))
	if err := os.Truncate(path, 4<<40); err != nil {
		t.Skip(err)
	}
	head, err := foreigndir.Read(root, "sparse", 4)
	tail, err2 := foreigndir.Tail(root, "sparse", 4)
	if err != nil || err2 != nil || string(head) != "head" || string(tail) != "\x00\x00\x00\x00" {
		t.Errorf("got %q, %v, %q, %v", head, err, tail, err2)
	}
	if used, err := foreigndir.Usage(root, "."); err != nil || used > 1<<20 {
		t.Errorf("it occupies %d bytes, %v", used, err)
	}
}

// nest makes nested folders, each with a file, and returns the number of entries.
func nest(t *testing.T, dir string, depth int) {
	t.Helper()
	at, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	for i := 0; i < depth && err == nil; i++ {
		err = unix.Mkdirat(at, "d", 0o700)
		var f, next int
		if err == nil {
			f, err = unix.Openat(at, "f", unix.O_CREAT|unix.O_WRONLY, 0o600)
		}
		if err == nil {
			_ = unix.Close(f)
			next, err = unix.Openat(at, "d", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		}
		_ = unix.Close(at)
		at = next
	}
	must(t, err)
	_ = unix.Close(at)
}

func TestDeepFolders(t *testing.T) {
	root, dir := newRoot(t)
	if err := os.MkdirAll(filepath.Join(dir, "slot", "lifted.1", "x"), 0o700); err != nil { // a name that this package uses
		t.Fatal(err)
	}
	nest(t, filepath.Join(dir, "slot"), 5000)
	if _, err := foreigndir.Usage(root, "slot"); !errors.Is(err, foreigndir.ErrTooDeep) {
		t.Errorf("got %v", err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must(t, foreigndir.RemoveAll(root, "slot"))
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("it took %d MB of memory in all", took>>20)
	}
	if _, err := os.Lstat(filepath.Join(dir, "slot")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// Folders without permissions are emptied and counted, too.
func TestClosedFolders(t *testing.T) {
	root, dir := newRoot(t)
	for i := range 3 {
		sub := filepath.Join(dir, "slot", strconv.Itoa(i), "a", "b")
		must(t, os.MkdirAll(sub, 0o700))
		must(t, os.WriteFile(filepath.Join(sub, "f"), []byte(strings.Repeat("x", 100_000)), 0o000))
		for p := sub; p != dir; p = filepath.Dir(p) {
			must(t, os.Chmod(p, 0o000))
			if filepath.Base(filepath.Dir(p)) == "slot" {
				break
			}
		}
	}
	must(t, os.Chmod(filepath.Join(dir, "slot"), 0o000))
	if used, err := foreigndir.Usage(root, "slot"); err != nil || used < 300_000 {
		t.Errorf("got %d, %v", used, err)
	}
	must(t, os.Chmod(filepath.Join(dir, "slot"), 0o000))
	if err := foreigndir.RemoveAll(root, "slot"); err != nil {
		t.Error(err)
	}
	if err := foreigndir.RemoveAll(root, "slot"); err != nil {
		t.Errorf("what is not there: %v", err)
	}
}

func TestManyFiles(t *testing.T) {
	root, dir := newRoot(t)
	const n = 3000
	for i := range n {
		must(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600))
	}
	seen := 0
	if err := foreigndir.Names(root, ".", func(string) bool { seen++; return true }); err != nil || seen != n {
		t.Errorf("got %d, %v", seen, err)
	}
	if used, err := foreigndir.Usage(root, "."); err != nil || used < n*foreigndir.EachFile {
		t.Errorf("%d empty files count for %d bytes, %v", n, used, err)
	}
	must(t, os.Mkdir(filepath.Join(dir, "s"), 0o700))
	for i := range n {
		must(t, os.Rename(filepath.Join(dir, strconv.Itoa(i)), filepath.Join(dir, "s", strconv.Itoa(i))))
	}
	if err := foreigndir.RemoveAll(root, "s"); err != nil {
		t.Error(err)
	}
}

var must = testerr.Must
