package api

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/server/limit"
)

// A Spool is a folder of the project for files that arrive or are fetched. Its room is bounded, so
// that it fills neither the disk of the database nor, where the system's temporary folder is in
// memory, that. It is safe for concurrent use, also by several processes.
type Spool struct {
	Dir  string
	Room *limit.Bodies // nil: it is not bounded
}

// stale is the age at which files left by a killed process are deleted.
const stale = 48 * time.Hour

// folder makes a folder with room for n bytes. The caller calls remove when done. It returns
// limit.ErrBusy if there is not enough room in time.
func (s Spool) folder(ctx context.Context, from netip.Addr, n int64) (dir string, remove func(), err error) {
	release, err := s.Room.Hold(ctx, from, n)
	if err != nil {
		return "", nil, err
	}
	if err = os.MkdirAll(s.Dir, 0o700); err == nil {
		s.sweep(time.Now())
		dir, err = os.MkdirTemp(s.Dir, "")
	}
	if err != nil {
		release()
		return "", nil, err
	}
	return dir, func() { _ = os.RemoveAll(dir); release() }, nil
}

// sweep deletes files that were left long before now.
func (s Spool) sweep(now time.Time) {
	list, _ := os.ReadDir(s.Dir) // the next time
	for _, e := range list {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > stale {
			_ = os.RemoveAll(filepath.Join(s.Dir, e.Name()))
		}
	}
}
