package store

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/starling-grid/starling/server/db"
)

//go:embed migrations/*.sql
var migrations embed.FS

//go:embed tables.sql
var tables string

// Latest is the number of this program's last migration. It is the version of the databases on
// which the program works.
var Latest = db.Latest(migrations)

// schema describes the tables for the engine.
var schema = db.Schema{
	Migrations:       migrations,
	Tables:           tables,
	Newer:            func(version int64) error { return Found{Version: version}.Fits() },
	Damaged:          ErrDamaged,
	SQLiteTriggers:   sqliteTriggers,
	PostgresTriggers: postgresTriggers,
	TriggerTable:     "legal_moves",
	Identity:         identity,
	IdentityTable:    "project",
	Private:          []string{"deletion_hold", "front", "trouble"},
	Stamp:            "catalog",
}

// Errors of a database with tables of another version. Nothing was changed.
var (
	ErrNewer = errors.New("the database was made or changed by a newer version of starling-server")
	ErrOlder = errors.New("the database is of an older version of starling-server")
)

// ErrDamaged is returned when the database's file is not what SQLite wrote.
var ErrDamaged = errors.New("the database is damaged: stop the server, keep a copy of project.db with project.db-wal and project.db-shm if they exist, and restore a backup")

// Found is the result of Inspect. Its Identity is as from View.Identity.
type Found db.Found

// Inspect looks at a database and changes nothing, neither its content nor its
// tables. where is as for Open. It returns ErrDamaged if the database cannot be read. Only Check
// notices damage in the middle of a large file.
func Inspect(ctx context.Context, where string) (Found, error) {
	f, err := db.Inspect(ctx, where, schema)
	return Found(f), err
}

// Fits returns nil if the database is empty or of this program's version, else an error
// that is ErrNewer or ErrOlder.
func (f Found) Fits() error {
	switch {
	case f.Empty || f.Version == Latest:
		return nil
	case f.Version > Latest:
		return fmt.Errorf("%w: its tables have version %d, and this program knows %d at most", ErrNewer, f.Version, Latest)
	}
	return fmt.Errorf("%w: its tables have version %d, and this program needs %d", ErrOlder, f.Version, Latest)
}

// Unreachable reports whether an error means that a database's server does not answer, or
// not yet, so that it may do so later. It returns false for a file.
func Unreachable(err error) bool { return db.Unreachable(err) }

const identity = `SELECT COALESCE((SELECT identity FROM project), '')`

var (
	forgetIdentity = db.Change(`DELETE FROM project`)
	setIdentity    = db.Insert("project", "identity")
)

// Identity returns the mark of the project to which this database belongs, or "".
func (t *View) Identity() (string, error) { return one(t, scanString, identity) }

// SetIdentity makes the database a project's. id is not "".
func (t *Tx) SetIdentity(id string) error {
	if err := t.run(forgetIdentity); err != nil {
		return err
	}
	return t.run(setIdentity, id)
}
