package logfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A rotating file is renamed before it would grow over most bytes, and keep of the renamed
// ones stay. It may be used concurrently.
type rotating struct {
	dir  string
	most int64
	keep int

	mu   sync.Mutex
	f    *os.File // nil: not open
	size int64
}

// stamp is the time in the name of a full file, see older.
const stamp = "2006-01-02T15-04-05.000"

func (r *rotating) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.open(); err != nil {
		return 0, err
	}
	if r.size > 0 && r.size+int64(len(b)) > r.most {
		// A file that cannot be renamed, as on Windows while another program reads it, grows on.
		errRename := r.rename(time.Now())
		if err := r.open(); err != nil {
			return 0, errors.Join(errRename, err)
		}
	}
	n, err := r.f.Write(b)
	r.size += int64(n)
	return n, err
}

// open opens the file if it is not open.
func (r *rotating) open() error {
	if r.f != nil {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(r.dir, Name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r.f, r.size = f, info.Size()
	return nil
}

// rename closes the file and gives it a name with a time, which is a little later than now if
// another file has that name, and deletes the oldest of such files.
func (r *rotating) rename(now time.Time) error {
	if err := r.close(); err != nil {
		return err
	}
	for {
		full := filepath.Join(r.dir, "stdout-"+now.UTC().Format(stamp)+".log")
		if _, err := os.Lstat(full); err != nil {
			if err := os.Rename(filepath.Join(r.dir, Name), full); err != nil {
				return err
			}
			break
		}
		now = now.Add(time.Millisecond)
	}
	names, err := fullFiles(r.dir)
	for len(names) > r.keep {
		err = errors.Join(err, os.Remove(filepath.Join(r.dir, names[0])))
		names = names[1:]
	}
	return err
}

func (r *rotating) close() error {
	if r.f == nil {
		return nil
	}
	err := r.f.Close()
	r.f = nil
	return err
}

// fullFiles lists the files that were renamed, the oldest first.
func fullFiles(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir) // in order of name
	if err != nil {
		return nil, fmt.Errorf("list log files: %w", err)
	}
	for _, e := range entries {
		if full, _ := filepath.Match(older, e.Name()); full {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
