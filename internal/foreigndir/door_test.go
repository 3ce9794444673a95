//go:build unix

package foreigndir_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/internal/foreigndir"
)

// A door must not lead to a secret, whether that is outside or inside the folder.
func TestDoorFollowsNoLink(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	put := func(name, text string) {
		t.Helper()
		must(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)))
	}
	put(filepath.Join(outside, "file"), "secret")
	put(filepath.Join(dir, "inside", "file"), "secret")
	put(filepath.Join(dir, "folder", "file"), "text")
	for name, to := range map[string]string{
		"link": filepath.Join(outside, "file"), "link2": "inside/file", "folders": outside, "folders2": "inside", "folder/link": "../inside/file", "folder/up": "..",
	} {
		must(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	must(t, errors.Join(unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600), os.Symlink("/dev/zero", filepath.Join(dir, "zero"))))
	d, err := foreigndir.Enter(t.Context(), dir)
	must(t, err)
	defer d.Close()
	to, _ := newRoot(t)
	for _, name := range []string{"link", "link2", "folders/file", "folders2/file", "folder/link", "folder/up/inside/file", "fifo", "zero", "folder", "../" + filepath.Base(outside) + "/file"} {
		if b, err := d.Read(name, 100); !errors.Is(err, foreigndir.ErrIrregular) && name[0] != '.' || err == nil {
			t.Errorf("%s: read %q, %v", name, b, err)
		}
		if err := d.Copy(name, to, "copy", 0o600, 100); err == nil {
			t.Errorf("%s: copied", name)
		}
		if _, err := to.Lstat("copy"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: left a copy: %v", name, err)
		}
	}
	if b, err := d.Read("folder/file", 4); err != nil || string(b) != "text" {
		t.Errorf("got %q, %v", b, err)
	}
	if err := d.Copy("folder/file", to, "copy", 0o640, 4); err != nil {
		t.Error(err)
	}
	if _, err := d.Read("absent/file", 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
}

// A file that is too large is refused before it is read, and nothing is read after the context has
// ended.
func TestDoorHasBounds(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	must(t, os.WriteFile(path, []byte("text"), 0o600))
	ctx, cancel := context.WithCancelCause(t.Context())
	d, err := foreigndir.Enter(ctx, dir)
	must(t, err)
	defer d.Close()
	to, _ := newRoot(t)
	for _, size := range []int64{5, 4 << 40} {
		if err := os.Truncate(path, size); err != nil {
			t.Skip(err)
		}
		if _, err := d.Read("file", 4); !errors.Is(err, foreigndir.ErrTooLarge) {
			t.Errorf("%d bytes: %v", size, err)
		}
		if err := d.Copy("file", to, "copy", 0o600, 4); !errors.Is(err, foreigndir.ErrTooLarge) {
			t.Errorf("%d bytes: %v", size, err)
		}
		if _, err := foreigndir.ReadFile(path, 4); !errors.Is(err, foreigndir.ErrTooLarge) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	enough := errors.New("enough")
	cancel(enough)
	if _, err := d.Read("file", 8<<40); !errors.Is(err, enough) {
		t.Errorf("after the end: %v", err)
	}
}

// A file that a person has named may be a link, but not something that makes a reader wait.
func TestFilesThatPeopleName(t *testing.T) {
	dir := t.TempDir()
	file, link, fifo := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "fifo")
	must(t, errors.Join(os.WriteFile(file, []byte("text"), 0o600), os.Symlink(file, link), unix.Mkfifo(fifo, 0o600)))
	if b, err := foreigndir.ReadFile(link, 4); err != nil || string(b) != "text" {
		t.Errorf("got %q, %v", b, err)
	}
	for _, name := range []string{fifo, dir, "/dev/zero"} {
		if b, err := foreigndir.ReadFile(name, 4); !errors.Is(err, foreigndir.ErrIrregular) {
			t.Errorf("%s: got %q, %v", name, b, err)
		}
	}
	for _, name := range []string{fifo, file, "/dev/zero"} {
		if d, err := foreigndir.Enter(t.Context(), name); !errors.Is(err, unix.ENOTDIR) {
			t.Errorf("%s: got %v, %v", name, d, err)
		}
	}
}
