package blob_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/blob"
)

func open(t *testing.T) (*blob.Dir, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	d, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, dir
}

func TestPut(t *testing.T) {
	d, dir := open(t)
	info, err := d.Put("in_2", strings.NewReader("hello"))
	if err != nil || info.NBytes != 5 || info.MD5 != "5d41402abc4b2a76b9719d911017c592" {
		t.Fatalf("got %+v, %v", info, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(blob.Path("in_2")))); err != nil || string(b) != "hello" {
		t.Errorf("got %q, %v", b, err)
	}
	if _, err := d.Put("in_2", strings.NewReader("hello")); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if _, err := d.Put("in_2", strings.NewReader("other")); !errors.Is(err, blob.ErrDifferent) {
		t.Errorf("other content: got %v", err)
	}
	if sum, err := d.Sum("in_2"); err != nil || sum != info {
		t.Errorf("got %+v, %v; want %+v", sum, err, info)
	}
	if left, err := os.ReadDir(filepath.Join(dir, ".tmp")); err != nil || len(left) != 0 {
		t.Errorf("%d temporary files are left, %v", len(left), err)
	}
	for range 2 {
		if err := d.Remove("in_2"); err != nil {
			t.Error(err)
		}
	}
	if _, err := d.Size("in_2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after removal: %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestNothingOfAFailedFileShows(t *testing.T) {
	d, dir := open(t)
	if _, err := d.Put("x", io.MultiReader(strings.NewReader("begin"), failing{})); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	if _, err := d.Size("x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, ".tmp")); len(left) != 0 {
		t.Errorf("%d temporary files are left", len(left))
	}
}

func TestNamesStayInside(t *testing.T) {
	d, _ := open(t)
	for _, name := range []string{"", "..", "a/b", `a\b`, "/etc/passwd", "a%2fb", "a\nb"} {
		if _, err := d.Put(name, strings.NewReader("x")); err == nil {
			t.Errorf("%q was stored", name)
		}
		if _, err := d.Open(name); err == nil {
			t.Errorf("%q was opened", name)
		}
		if _, err := d.OpenPart(name); err == nil {
			t.Errorf("a part of %q was opened", name)
		}
		if err := d.Remove(name); err == nil {
			t.Errorf("%q was removed", name)
		}
	}
}

// What was copied stays when the file goes, and what stood there is replaced.
func TestCopyTo(t *testing.T) {
	d, _ := open(t)
	for _, name := range []string{"one", "two"} {
		if _, err := d.Put(name, strings.NewReader("content of "+name)); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(t.TempDir(), "out")
	for _, name := range []string{"one", "one", "two"} {
		if err := d.CopyTo(name, to); err != nil {
			t.Errorf("copy of %s: %v", name, err)
		}
		if got, err := os.ReadFile(to); err != nil || string(got) != "content of "+name {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if err := d.Remove("two"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(to); err != nil || string(got) != "content of two" {
		t.Errorf("after the file went: %q, %v", got, err)
	}
	if err := d.CopyTo("two", to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if list, err := os.ReadDir(filepath.Dir(to)); err != nil || len(list) != 1 {
		t.Errorf("%d files beside the copy, %v", len(list), err)
	}
}
