// Package state is the agent's durable memory: projects, files, app versions, workunits and
// results, in one file that survives a kill at any instruction.
//
// Every change is a transaction on both memory and disk. It is on disk when Update returns. The
// history, of tasks that have ended and of the computer's activity, is changed in the same
// transactions, but is only on disk. The package makes no decisions and does no other input or
// output. It must be used by only one goroutine, the agent's loop.
package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// ErrInUse means that another process, a running agent, has the file open.
var ErrInUse = errors.New("state is in use by a running agent")

// A DB is an open state file.
type DB struct {
	bolt   *bbolt.DB
	handle *os.File // the file that bolt reads and writes
	path   string
	file   os.FileInfo // of the open file
	digest digest

	copying sync.Mutex // held while a copy is made, because two would write to the same file

	// Repaired describes the repair of a damaged file. It is nil if the file was intact.
	Repaired *Repair

	changes  uint64 // number of changes
	notSaved error  // why the last of these could not be made durable
	wanted   struct {
		files []WantedFile
		of    uint64 // value of changes when files was computed
	}

	Hosts    Table[Host] // one record, Self
	Projects Table[Project]
	Files    Table[File]
	Apps     Table[App]
	Versions Table[AppVersion]
	Units    Table[Workunit]
	Results  Table[Result]
	Managers Table[Manager] // one record, Self, if an account manager is followed
	Days     Table[Day]     // achievements, by date
	Notices  Table[Notice]  // announcements of projects, see Notice.Key

	// The history, of tasks that have ended and of the computer's activity, is only in the file:
	// see ended.go and span.go.
}

// Self is the key of this computer's record in Hosts, and of its manager's record in Managers.
const Self = "self"

// tables returns the tables of the state in the order in which they are read.
func (db *DB) tables() []interface {
	load(stored) error
	rewrite(*Tx)
} {
	return []interface {
		load(stored) error
		rewrite(*Tx)
	}{&db.Hosts, &db.Projects, &db.Files, &db.Apps, &db.Versions, &db.Units, &db.Results, &db.Managers, &db.Days, &db.Notices}
}

// Open opens or creates the state file and reads all of it except the history. It returns ErrInUse
// if a running agent uses the file. A file that is damaged, or missing although there is a copy of
// it, is repaired, see [DB.Repaired].
func Open(path string) (*DB, error) {
	if missing(path) {
		return repair(path, fmt.Errorf("%w: %s is gone or empty", ErrDamaged, path))
	}
	db, err := open(path, false)
	if errors.Is(err, ErrDamaged) {
		return repair(path, err)
	}
	return db, err
}

// OpenReadOnly opens an existing state file for reading. It returns ErrInUse if a running agent
// uses the file, and ErrDamaged if its content is not as it was written.
func OpenReadOnly(path string) (*DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	if missing(path) {
		return nil, fmt.Errorf("%w: %s is empty", ErrDamaged, path)
	}
	return open(path, true)
}

func open(path string, readOnly bool) (db *DB, err error) {
	patience := 3 * time.Second // longer than other programs read a stopped agent's state
	if readOnly {
		patience = 100 * time.Millisecond
	}
	if err := verifyAlone(path, patience); err != nil {
		return nil, err
	}
	db = newDB()
	db.path = path
	err = guard(func() (err error) {
		db.bolt, db.handle, err = openBolt(path, patience, readOnly)
		if err != nil {
			return err
		}
		return db.load(path, readOnly)
	})
	if err != nil {
		if db.bolt != nil {
			_ = guard(db.bolt.Close)
		}
		return nil, err
	}
	return db, nil
}

func newDB() *DB {
	return &DB{
		Hosts: formed("host", formOfHost), Projects: plain[Project]("project"), Files: formed("file", formOfFile),
		Apps: formed("app", formOfApp), Versions: formed("app_version", formOfVersion),
		Units: formed("workunit", formOfUnit), Results: formed("result", formOfResult),
		Managers: plain[Manager]("account_manager"), Days: plain[Day]("day"), Notices: plain[Notice]("notice"),
	}
}

// Held reports whether an agent has the file open.
func Held(path string) bool {
	unlock, err := lockFile(path, 0)
	if err == nil {
		unlock()
	}
	return errors.Is(err, ErrInUse)
}

// openBolt opens the file, which was verified, and also returns the handle that bolt reads and
// writes.
func openBolt(path string, patience time.Duration, readOnly bool) (b *bbolt.DB, handle *os.File, err error) {
	open := func(name string, flag int, perm os.FileMode) (*os.File, error) {
		handle, err = os.OpenFile(name, flag, perm)
		return handle, err
	}
	b, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: patience, ReadOnly: readOnly, OpenFile: open})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, nil, ErrInUse
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		return nil, nil, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	case err != nil:
		return nil, nil, fmt.Errorf("state %s: %w", path, err)
	}
	return b, handle, nil
}

// verifyAlone checks the file while no agent writes to it.
func verifyAlone(path string, patience time.Duration) error {
	unlock, err := lockFile(path, patience)
	if errors.Is(err, os.ErrNotExist) {
		return nil // it will be created
	}
	if err != nil {
		return err
	}
	defer unlock()
	if err := verify(path); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	return nil
}

// load reads all records. Records of an older format are converted to the current one, and also
// written in it unless the file is read-only.
func (db *DB) load(path string, readOnly bool) error {
	var all stored
	err := db.bolt.View(func(b *bbolt.Tx) (err error) {
		if err = db.check(b); err == nil {
			all, err = readStored(b)
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return err
	})
	old := format
	if err == nil {
		old, err = all.upgrade()
	}
	for _, t := range db.tables() {
		if err == nil {
			err = t.load(all)
		}
	}
	if err == nil && old != format && !readOnly {
		err = db.adopt(path, old)
	}
	if err == nil {
		db.file, err = os.Stat(path)
	}
	if err != nil {
		return fmt.Errorf("state %s: %w", path, err)
	}
	return nil
}

// Update runs fn and makes its changes durable. If that fails, for example because the disk is
// full, memory is as before and the error contains the reason.
func (db *DB) Update(fn func(tx *Tx)) error {
	tx := newTx(db.digest)
	fn(tx)
	if len(tx.writes)+len(tx.onDisk) == 0 {
		return nil
	}
	db.changes++ // even if everything is rolled back
	err := db.displaced()
	if err == nil {
		err = guard(func() error { return db.bolt.Update(tx.write) })
	}
	if errors.Is(err, ErrDamaged) {
		if err = db.rebuild(err, tx); err == nil {
			db.notSaved = nil
			return nil
		}
	}
	if db.notSaved = err; err != nil {
		tx.rollback()
		return fmt.Errorf("save state: %w", err)
	}
	db.digest = tx.digest
	return nil
}

// NotSaved returns why the last change could not be made durable, or nil if it was.
func (db *DB) NotSaved() error { return db.notSaved }

// displaced returns an ErrDamaged if the open file is not the one that the next start will find, or
// was truncated.
func (db *DB) displaced() error {
	now, err := os.Stat(db.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: it was removed", ErrDamaged)
	case err != nil:
		return nil //nolint:nilerr // writing tells whether there is a disk
	case !os.SameFile(now, db.file):
		return fmt.Errorf("%w: it was replaced by another file", ErrDamaged)
	case now.Size() < db.file.Size():
		return fmt.Errorf("%w: it was truncated", ErrDamaged)
	}
	return nil
}

// rebuild writes everything in memory to a new file, after the file was damaged while it was in
// use, and adds as much of the history as can be recovered.
func (db *DB) rebuild(cause error, tx *Tx) error {
	path := db.path
	history := append(db.salvage(), tx.onDisk...)
	if err := removeOpen(path, db.bolt, db.handle); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w; it cannot be replaced: %w", cause, err)
	}
	b, handle, err := openBolt(path, time.Second, false)
	if err != nil {
		return fmt.Errorf("%w; it cannot be replaced: %w", cause, err)
	}
	db.bolt, db.handle = b, handle
	if err := guard(func() error { return db.writeAll(history...) }); err != nil {
		return fmt.Errorf("%w; it cannot be replaced: %w", cause, err)
	}
	db.file, err = os.Stat(path)
	return err
}

// writeAll replaces everything in the file except the history by everything in memory, in the
// current format, and then makes the given changes.
func (db *DB) writeAll(history ...onDiskChange) error {
	tx := newTx(0)
	tx.onDisk = history
	tx.writes[change{metaBucket, formatKey}] = func() ([]byte, error) { return json.Marshal(format) }
	for _, t := range db.tables() {
		t.rewrite(tx)
	}
	err := db.bolt.Update(func(b *bbolt.Tx) (err error) {
		if tx.digest, err = empty(b); err != nil {
			return err
		}
		return tx.write(b)
	})
	if err == nil {
		db.digest = tx.digest
	}
	return err
}

// empty removes all records except the history, and returns the history's digest.
func empty(b *bbolt.Tx) (history digest, err error) {
	var names [][]byte
	if err := b.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
		if !onDisk(string(name)) {
			names = append(names, bytes.Clone(name))
			return nil
		}
		return bucket.ForEach(func(k, v []byte) error {
			history += history.of(string(name), string(k), v)
			return nil
		})
	}); err != nil {
		return 0, err
	}
	for _, name := range names {
		if err := b.DeleteBucket(name); err != nil {
			return 0, err
		}
	}
	return history, nil
}

// Changes returns the number of changes since Open. While it stays the same, so do all records.
func (db *DB) Changes() uint64 { return db.changes }

// Close closes the file, once no copy of it is being made anymore.
func (db *DB) Close() error {
	if db.bolt == nil { // the zero value, which is empty
		return nil
	}
	db.copying.Lock()
	defer db.copying.Unlock()
	return db.bolt.Close()
}
