package executor

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/starling-grid/starling/internal/foreigndir"
)

const (
	// recheck is the time after which a file is read again even if it looks unchanged, because
	// disks lose bytes silently.
	recheck = 24 * time.Hour
	// maxChecked is the maximum number of files that are remembered.
	maxChecked = 10_000
)

// A ChangedError lists files of a task whose bytes differ from those that the project sent.
type ChangedError struct{ Files []string } // physical names

func (e *ChangedError) Error() string { return "files have changed: " + strings.Join(e.Files, ", ") }

// checks records, by path, the files whose bytes were found correct. It is kept only in memory, so
// after a crash all files are read again.
type checks struct {
	mu   sync.Mutex
	seen map[string]*checked
}

// A checked file is read only by one goroutine at a time, because tasks that start together share
// their program.
type checked struct {
	mu    sync.Mutex
	sight sight // zero: the file was wrong, or has not been read
	md5   string
	at    time.Time
}

// verify reads the files of a task that have a checksum, except those that look the same as when
// they were last read. It returns a ChangedError for files that differ and for names that belong to
// other things, such as folders. A missing file is not an error here: it may be optional.
func (c *checks) verify(t Task, now time.Time) error {
	root, err := os.OpenRoot(t.ProjectDir)
	if err != nil {
		return err
	}
	defer root.Close()
	var changed []string
	for _, f := range t.Files {
		if f.MD5 == "" {
			continue
		}
		same, err := c.same(root, filepath.Join(t.ProjectDir, f.Physical), f, now)
		if err != nil {
			return fmt.Errorf("check %s: %w", f.Physical, err)
		}
		if !same {
			changed = append(changed, f.Physical)
		}
	}
	if len(changed) > 0 {
		return &ChangedError{changed}
	}
	return nil
}

func (c *checks) same(root *os.Root, path string, f File, now time.Time) (bool, error) {
	info, err := root.Stat(f.Physical)
	if os.IsNotExist(err) {
		return true, nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	was := c.of(path)
	was.mu.Lock()
	defer was.mu.Unlock()
	is := sightOf(path, info)
	if was.md5 == f.MD5 && now.Sub(was.at) < recheck && !now.Before(was.at) && was.sight.like(is) {
		return true, nil
	}
	was.sight = sight{}
	file, err := foreigndir.Open(root, f.Physical)
	if err != nil {
		return false, err
	}
	defer file.Close()
	sum := md5.New()
	if _, err := io.Copy(sum, file); err != nil {
		return false, err
	}
	if !strings.EqualFold(hex.EncodeToString(sum.Sum(nil)), f.MD5) {
		return false, nil
	}
	was.sight, was.md5, was.at = is, f.MD5, now // as it was before the file was read
	return true, nil
}

func (c *checks) of(path string) *checked {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.seen[path]
	if f == nil {
		if c.seen == nil || len(c.seen) >= maxChecked {
			c.seen = make(map[string]*checked)
		}
		f = new(checked)
		c.seen[path] = f
	}
	return f
}

// A sight is how a file looks without reading it.
type sight struct {
	info    os.FileInfo
	changed int64 // the time of the last change of its entry, which programs hardly ever set back (0: not known)
}

func sightOf(path string, info os.FileInfo) sight { return sight{info, entryChanged(path, info)} }

// like reports whether a file looks unchanged, by inode, size, and the times of changes.
func (a sight) like(b sight) bool {
	return a.info != nil && os.SameFile(a.info, b.info) && a.info.Size() == b.info.Size() && a.info.ModTime().Equal(b.info.ModTime()) && a.changed == b.changed
}
