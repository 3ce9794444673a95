// Package state is the agent's durable memory: projects, files, app versions,
// workunits and results, in one file that survives a kill at any instruction.
//
// Every change is a transaction on memory and disk alike; it is on disk when
// Update returns. The package decides nothing and does no other input or
// output. It is for one goroutine, the agent's loop.
package state

import (
	"errors"
	"fmt"
	"os"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// format is the version of what the records mean. A file with a higher one was
// written by a newer agent and is left alone.
const format = 1

// ErrInUse says that another process, an agent that runs, holds the file.
var ErrInUse = errors.New("state is in use by a running agent")

// A DB is an open state file.
type DB struct {
	bolt *bbolt.DB

	Meta     Table[int]
	Hosts    Table[Host] // one record, Self
	Projects Table[Project]
	Files    Table[File]
	Apps     Table[App]
	Versions Table[AppVersion]
	Units    Table[Workunit]
	Results  Table[Result]
	Managers Table[Manager] // one record, Self, if an account manager is followed
}

// Self is the key of this computer's record in Hosts, and of its manager's.
const Self = "self"

// Open opens or makes the state file and reads all of it. It returns ErrInUse
// when an agent is running on it.
func Open(path string) (*DB, error) { return open(path, false) }

// OpenReadOnly opens an existing state file to look at it.
func OpenReadOnly(path string) (*DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	return open(path, true)
}

func open(path string, readOnly bool) (*DB, error) {
	patience := 3 * time.Second // longer than anybody looks at a stopped agent's state
	if readOnly {
		patience = 100 * time.Millisecond
	}
	b, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: patience, ReadOnly: readOnly})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, ErrInUse
	case err != nil:
		return nil, fmt.Errorf("state %s: %w", path, err)
	}
	db := &DB{
		bolt: b,
		Meta: Table[int]{bucket: "meta"}, Hosts: Table[Host]{bucket: "host"},
		Projects: Table[Project]{bucket: "project"}, Files: Table[File]{bucket: "file"},
		Apps: Table[App]{bucket: "app"}, Versions: Table[AppVersion]{bucket: "app_version"},
		Units: Table[Workunit]{bucket: "workunit"}, Results: Table[Result]{bucket: "result"},
		Managers: Table[Manager]{bucket: "account_manager"},
	}
	if err := db.load(path); err != nil {
		_ = b.Close()
		return nil, err
	}
	if !readOnly && db.Meta.Len() == 0 {
		if err := db.Update(func(tx *Tx) { db.Meta.Put(tx, "format", format) }); err != nil {
			_ = b.Close()
			return nil, err
		}
	}
	return db, nil
}

func (db *DB) load(path string) error {
	err := db.bolt.View(func(b *bbolt.Tx) error {
		return errors.Join(
			db.Meta.load(b), db.Hosts.load(b), db.Projects.load(b), db.Files.load(b),
			db.Apps.load(b), db.Versions.load(b), db.Units.load(b), db.Results.load(b), db.Managers.load(b),
		)
	})
	if err != nil {
		return fmt.Errorf("state %s: %w", path, err)
	}
	if v, ok := db.Meta.Get("format"); ok && v > format {
		return fmt.Errorf("state %s: written by a newer version (format %d, this one knows %d); install that version again", path, v, format)
	}
	return nil
}

// Update runs fn and makes what it put and deleted durable. When that fails,
// a full disk say, memory is as before and the error says why.
func (db *DB) Update(fn func(tx *Tx)) error {
	tx := &Tx{writes: make(map[change]func() ([]byte, error))}
	fn(tx)
	if len(tx.writes) == 0 {
		return nil
	}
	if err := db.bolt.Update(tx.write); err != nil {
		tx.rollback()
		return fmt.Errorf("save state: %w", err)
	}
	return nil
}

// Close closes the file.
func (db *DB) Close() error {
	if db.bolt == nil { // the zero value, which holds nothing
		return nil
	}
	return db.bolt.Close()
}
