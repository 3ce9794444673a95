package blob_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/tests3"
	"github.com/starling-grid/starling/server/blob"
)

// TestDir and TestBucket run the suite on each kind of tree.
func TestDir(t *testing.T) {
	suite(t, func(t *testing.T, dir string) (blob.Tree, error) { return blob.Open(dir) })
}

func TestBucket(t *testing.T) {
	s3 := tests3.Start(t)
	suite(t, func(t *testing.T, dir string) (blob.Tree, error) {
		return blob.OpenBucket(t.Context(), s3.Bucket(t), "tree", dir)
	})
	for place, want := range map[string]string{
		"/var/files":            "want s3://BUCKET",
		"s3://":                 "want s3://BUCKET",
		"s3://files?endpiont=x": `unknown parameter "endpiont"`,
		s3.Place("none"):        "bucket does not exist",
		"s3://files?endpoint=127.0.0.1:1&tls=false": "connection refused",
	} {
		if err := blob.Reach(t.Context(), place); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", place, err, want)
		}
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	if err := blob.Reach(t.Context(), s3.Bucket(t)); err == nil || !strings.Contains(err.Error(), "access denied; set AWS_ACCESS_KEY_ID") {
		t.Errorf("with a wrong key: %v", err)
	}
}

func suite(t *testing.T, open func(t *testing.T, dir string) (blob.Tree, error)) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, d blob.Tree, dir string)
	}{
		{"put", put},
		{"nothing of a failed file shows", failed},
		{"names stay inside", names},
		{"copies", copies},
		{"parts", parts},
		{"programs find files", locate},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "tree")
			d, err := open(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			test.run(t, d, dir)
		})
	}
}

func read(t *testing.T, d blob.Tree, name string) string {
	t.Helper()
	f, err := d.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil || int64(len(b)) != f.NBytes || time.Since(f.Modified) > time.Hour {
		t.Errorf("%s: %d bytes of %d, of %v, %v", name, len(b), f.NBytes, f.Modified, err)
	}
	return string(b)
}

func put(t *testing.T, d blob.Tree, dir string) {
	info, err := d.Put(t.Context(), "in_2", strings.NewReader("hello"))
	if err != nil || info.NBytes != 5 || info.MD5 != "5d41402abc4b2a76b9719d911017c592" {
		t.Fatalf("got %+v, %v", info, err)
	}
	if got := read(t, d, "in_2"); got != "hello" {
		t.Errorf("got %q", got)
	}
	if _, err := d.Put(t.Context(), "in_2", strings.NewReader("hello")); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if _, err := d.Put(t.Context(), "in_2", strings.NewReader("other")); !errors.Is(err, blob.ErrDifferent) {
		t.Errorf("other content: got %v", err)
	}
	if sum, err := d.Sum(t.Context(), "in_2"); err != nil || sum != info {
		t.Errorf("got %+v, %v; want %+v", sum, err, info)
	}
	if left, err := os.ReadDir(filepath.Join(dir, ".tmp")); err != nil || len(left) != 0 {
		t.Errorf("%d temporary files are left, %v", len(left), err)
	}
	for range 2 {
		if err := d.Remove(t.Context(), "in_2"); err != nil {
			t.Error(err)
		}
	}
	if _, err := d.Size(t.Context(), "in_2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after removal: %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func failed(t *testing.T, d blob.Tree, dir string) {
	if _, err := d.Put(t.Context(), "x", io.MultiReader(strings.NewReader("begin"), failing{})); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	if _, err := d.Size(t.Context(), "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, ".tmp")); len(left) != 0 {
		t.Errorf("%d temporary files are left", len(left))
	}
}

func names(t *testing.T, d blob.Tree, _ string) {
	for _, name := range []string{"", "..", "a/b", `a\b`, "/etc/passwd", "a%2fb", "a\nb"} {
		if _, err := d.Put(t.Context(), name, strings.NewReader("x")); err == nil {
			t.Errorf("%q was stored", name)
		}
		if _, err := d.Open(t.Context(), name); err == nil {
			t.Errorf("%q was opened", name)
		}
		if _, err := d.OpenPart(name); err == nil {
			t.Errorf("a part of %q was opened", name)
		}
		if err := d.Remove(t.Context(), name); err == nil {
			t.Errorf("%q was removed", name)
		}
	}
}

// A copy stays when the file is removed, and replaces a file at its path.
func copies(t *testing.T, d blob.Tree, _ string) {
	for _, name := range []string{"one", "two"} {
		if _, err := d.Put(t.Context(), name, strings.NewReader("content of "+name)); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(t.TempDir(), "out")
	for _, name := range []string{"one", "one", "two"} {
		if err := d.CopyTo(t.Context(), name, to); err != nil {
			t.Errorf("copy of %s: %v", name, err)
		}
		if got, err := os.ReadFile(to); err != nil || string(got) != "content of "+name {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if err := d.Remove(t.Context(), "two"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(to); err != nil || string(got) != "content of two" {
		t.Errorf("after the file went: %q, %v", got, err)
	}
	if err := d.CopyTo(t.Context(), "two", to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if list, err := os.ReadDir(filepath.Dir(to)); err != nil || len(list) != 1 {
		t.Errorf("%d files beside the copy, %v", len(list), err)
	}
}

// A file arrives in parts and is there when it is whole.
func parts(t *testing.T, d blob.Tree, _ string) {
	add := func(text string) {
		t.Helper()
		f, err := d.OpenPart("out")
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Seek(0, io.SeekEnd)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			t.Error(err)
		}
	}
	add("thrown ")
	if err := d.RemovePart("out"); err != nil {
		t.Error(err)
	}
	add("first, ")
	add("second")
	if n, err := d.PartSize("out"); err != nil || n != 13 {
		t.Errorf("%d bytes have arrived, %v", n, err)
	}
	if _, err := d.Size(t.Context(), "out"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before it is whole: %v", err)
	}
	if err := d.CommitPart(t.Context(), "out"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, d, "out"); got != "first, second" {
		t.Errorf("got %q", got)
	}
	if n, err := d.PartSize("out"); err != nil || n != 0 {
		t.Errorf("a part of %d bytes is left, %v", n, err)
	}
	add("late")
	found := map[string]int{}
	err := d.Walk(t.Context(), func(name string, modified time.Time) error {
		found[name]++
		return nil
	})
	if err != nil || len(found) != 1 || found["out"] != 2 {
		t.Errorf("found %v, %v; want the file and its part", found, err)
	}
	if err := d.Remove(t.Context(), "out"); err != nil {
		t.Error(err)
	}
	if n, err := d.PartSize("out"); err != nil || n != 0 {
		t.Errorf("a part of %d bytes is left, %v", n, err)
	}
}

func locate(t *testing.T, d blob.Tree, _ string) {
	if _, err := d.Put(t.Context(), "out", strings.NewReader("hello")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		path, err := d.Locate(t.Context(), "out")
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "hello" || !filepath.IsAbs(path) {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
	path, err := d.Locate(t.Context(), "out")
	if err = errors.Join(err, d.Remove(t.Context(), "out")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after its removal: %v", err)
	}
}
