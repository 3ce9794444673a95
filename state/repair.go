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

// ErrDamaged means that the content of a state file is not as it was written.
var ErrDamaged = errors.New("state is damaged")

// A Repair describes how Open repaired a damaged file.
type Repair struct {
	Cause error     // the damage
	Aside string    // where the damaged file is now, or "" if there was none
	Copy  time.Time // when the copy that replaced it was made, or zero if there was none
}

// copyName returns the path of the good copy of a state file.
func copyName(path string) string { return path + ".good" }

// guard runs f and turns a panic into an error. So damage to a file, even pages that cannot be
// read, affects only that file.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	return f()
}

// repair moves a damaged file aside and replaces it by the last good copy, or starts with an empty
// state: the agent still has its accounts, files are recognized by their checksums, and servers
// send results again that a host does not list.
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
	if errors.Is(err, ErrDamaged) && !r.Copy.IsZero() { // the copy is damaged, too
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

// seqnoAhead is added to a host's request number after it was set back. A server takes a host with
// a number that is too low for a copy of another host, and gives it a new ID.
const seqnoAhead = 1000

func (db *DB) afterRepair() error {
	return db.Update(func(tx *Tx) {
		for u, p := range db.Projects.All() {
			p.RPCSeqno += seqnoAhead
			db.Projects.Put(tx, u, p)
		}
	})
}

// Keeper returns a function that makes a copy of the state, which replaces the state if that is
// damaged. The previous copy is replaced in one step. Unlike the rest of the DB, the function may
// be called from another goroutine.
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

// missing reports whether a state file existed but does not anymore.
func missing(path string) bool {
	info, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() > 0 {
		return false
	}
	_, err = os.Stat(copyName(path))
	return err == nil
}
