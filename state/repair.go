package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"time"

	"github.com/starling-grid/starling/internal/atomicfile"
	"go.etcd.io/bbolt"
)

// ErrDamaged says that a state file is not as it was written.
var ErrDamaged = errors.New("state is damaged")

// A Repair is what Open did about a damaged file.
type Repair struct {
	Cause error     // what was wrong
	Aside string    // where the damaged file is now; "" if there was none
	Copy  time.Time // when the copy was made that took its place; zero: there was none
}

// copyName is where a good copy of a state file lies.
func copyName(path string) string { return path + ".good" }

// guard runs f and turns a panic into an error: whatever a disk makes of a file,
// even pages that cannot be read, concerns the file alone.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	return f()
}

// repair puts a damaged file aside and takes the last good copy in its place, or
// begins anew: the agent still has its accounts, files are known by their checksums,
// and servers send again what a host does not list.
func repair(path string, cause error) (*DB, error) {
	r := &Repair{Cause: cause}
	if info, err := os.Lstat(path); err == nil && info.Size() > 0 {
		r.Aside = fmt.Sprintf("%s.damaged-%s", path, time.Now().UTC().Format("20060102-150405"))
		if err := os.Rename(path, r.Aside); err != nil {
			return nil, fmt.Errorf("%w; it cannot be set aside: %w", cause, err)
		}
	}
	good := copyName(path)
	if info, err := os.Stat(good); err == nil && verify(good) == nil {
		content, err := os.ReadFile(good)
		if err == nil {
			err = atomicfile.Write(path, content, 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("%w; it cannot be restored from %s: %w", cause, good, err)
		}
		r.Copy = info.ModTime()
	}
	db, err := open(path, false)
	if errors.Is(err, ErrDamaged) && !r.Copy.IsZero() { // so is the copy
		if err := os.Rename(good, good+".damaged"); err != nil {
			return nil, err
		}
		return repair(path, cause)
	}
	if err != nil {
		return nil, err
	}
	db.Repaired = r
	if err := db.afterRepair(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// seqnoAhead is by how much a host's count of requests goes ahead after it was set
// back: a server takes a host whose count is behind for a copy of another, and gives
// it a new id.
const seqnoAhead = 1000

func (db *DB) afterRepair() error {
	return db.Update(func(tx *Tx) {
		for u, p := range db.Projects.All() {
			p.RPCSeqno += seqnoAhead
			db.Projects.Put(tx, u, p)
		}
	})
}

// Keeper returns a function that makes a copy of the state, which takes its place
// should it be damaged. The copy before is replaced in one step. Unlike the rest of
// the DB it may be called from another goroutine.
func (db *DB) Keeper() func() error {
	bolt, path := db.bolt, copyName(db.bolt.Path())
	return func() error {
		db.copying.Lock()
		defer db.copying.Unlock()
		return keep(bolt, path)
	}
}

func keep(bolt *bbolt.DB, path string) error {
	temp := path + ".new"
	err := guard(func() error {
		return bolt.View(func(b *bbolt.Tx) error { return b.CopyFile(temp, 0o600) })
	})
	if err == nil {
		if err = verify(temp); err == nil {
			err = atomicfile.Rename(temp, path)
		}
	}
	if err != nil {
		_ = os.Remove(temp)
		return fmt.Errorf("copy state: %w", err)
	}
	return nil
}

// missing reports whether a state file was here and is not any more.
func missing(path string) bool {
	info, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() > 0 {
		return false
	}
	_, err = os.Stat(copyName(path))
	return err == nil
}
