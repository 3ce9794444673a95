package inroot_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/internal/inroot"
)

func TestOpen(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	for _, dir := range []string{"a/b", "etc"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a/b/file", "etc/passwd"} {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "secret"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"relative": "a/b", "absolute": "/etc", "up": "../../../../etc", "out": outside, "circle": "circle", "a/back": "../a/b/file", "chain": "absolute/passwd",
		"magic": "/proc/self/root", "dots": "./a/./b/..",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	fd, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	for path, want := range map[string]any{ // the path that is reached, or an error
		"": "", "/": "", ".": "", "..": "", "../../a": "a", "a/b/file": "a/b/file", "/a//b/./file": "a/b/file", "a/../../etc": "etc",
		"relative/file": "a/b/file", "absolute/passwd": "etc/passwd", "up/passwd": "etc/passwd", "a/back": "a/b/file", "chain": "etc/passwd", "dots/back": "a/b/file",
		"out": unix.ENOENT, "out/secret": unix.ENOENT, "up/../" + outside + "/secret": unix.ENOENT, "circle": unix.ELOOP, "circle/x": unix.ELOOP,
		"a/b/file/x": unix.ENOTDIR, "magic" + outside: unix.ENOENT, strings.Repeat("n", 300): unix.ENAMETOOLONG, "gone": unix.ENOENT,
	} {
		got, err := inroot.Open(fd, path, true)
		if errno, ok := want.(unix.Errno); ok {
			if !errors.Is(err, errno) {
				t.Errorf("%q: got %v, want %v", path, err, errno)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", path, err)
			continue
		}
		real, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(got))
		if rel, _ := filepath.Rel(root, real); err != nil || strings.TrimPrefix(rel, ".") != want {
			t.Errorf("%q: got %s, %v, want %v", path, rel, err, want)
		}
		_ = unix.Close(got)
	}
	link, err := inroot.Open(fd, "relative", false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(link) }()
	var st unix.Stat_t
	if err := unix.Fstat(link, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFLNK {
		t.Errorf("a link that is not followed: mode %o, %v", st.Mode, err)
	}
}

// No descriptor is left open, whatever the path is.
func TestNothingStaysOpen(t *testing.T) {
	fd, err := unix.Open(t.TempDir(), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	deep := strings.Repeat("d/", 300)
	at := fd
	for range 300 {
		if err := unix.Mkdirat(at, "d", 0o700); err != nil {
			t.Fatal(err)
		}
		next, err := inroot.NoLink(at, "d")
		if err != nil {
			t.Fatal(err)
		}
		if at != fd {
			_ = unix.Close(at)
		}
		at = next
	}
	_ = unix.Close(at)
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := open()
	for _, path := range []string{deep, "d/d/x", "d/../d/..", ""} {
		got, err := inroot.Open(fd, path, true)
		if path == deep && !errors.Is(err, unix.ENAMETOOLONG) {
			t.Errorf("300 folders: %v", err)
		}
		if err == nil {
			_ = unix.Close(got)
		}
	}
	if after := open(); after != before {
		t.Errorf("%d descriptors were open, then %d", before, after)
	}
}
