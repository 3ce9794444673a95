// Package db is the engine under package store: transactions on SQLite or PostgreSQL, statements
// made of their parts, migrations, copies from one database to another, and checks of a database's
// file.
//
// It contains no table. The program's Schema describes the tables. Queries are written for SQLite,
// and the package translates them for PostgreSQL.
package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Errors of transactions.
var (
	ErrNotFound = errors.New("not found")                  // no row has the id or name asked for
	ErrLost     = errors.New("changed by another process") // a row differs from the caller's view of it. Nothing was changed.
	ErrExists   = errors.New("already exists")             // a row has the same unique name
	// ErrBusy is returned by Update after repeated conflicts with other transactions.
	// A later attempt may succeed.
	ErrBusy = errors.New("gave up after conflicts with other transactions; nothing was changed")
	// ErrUnreachable is returned when the database server does not answer. The text of the error
	// includes whether something may have been changed.
	ErrUnreachable = errors.New("the database cannot be reached")
	ErrClosed      = errors.New("store is closed") // after Close
)

// A Schema is the program's part of a database.
type Schema struct {
	Migrations fs.FS                     // files migrations/NNN_name.sql, which make the tables, in SQLite's words
	Tables     string                    // makes all tables of an empty database at once, as the migrations do ("": they do)
	Newer      func(version int64) error // returns the error for a database with a later migration
	Damaged    error                     // for a file that SQLite did not write

	// SQLiteTriggers and PostgresTriggers return the statements that replace all triggers. They run
	// unless TriggerTable, which has one column named sql, has the same ones.
	SQLiteTriggers, PostgresTriggers func() []string
	TriggerTable                     string

	Identity, IdentityTable string // a query for the mark of a database, and its table

	Private []string // tables that are not copied
	Stamp   string   // a table that triggers change as others are filled. It is copied last, and may have a row before
}

// A DB is an open database. It is safe for concurrent use, and several processes may have the same
// database open.
type DB struct {
	engine engine
	schema Schema
}

// An engine is SQLite or PostgreSQL.
type engine interface {
	view(ctx context.Context, fn func(tx *Tx) error) error
	update(ctx context.Context, fn func(tx *Tx) error) error
	apply(ctx context.Context, list []change) error
	close() error
}

// Open opens a database, makes its tables if they are missing, and brings them up to date. where is
// the URL of an existing PostgreSQL database (postgres://…), or the path of an SQLite file, which
// Open makes if it is missing. The caller closes it.
func Open(ctx context.Context, where string, s Schema) (*DB, error) {
	return OpenIf(ctx, where, s, func(Found) error { return nil })
}

// OpenIf is Open if the function allow returns nil. It gets the result of Inspect, before anything is changed.
func OpenIf(ctx context.Context, where string, s Schema, allow func(Found) error) (*DB, error) {
	if IsURL(where) {
		f, err := Inspect(ctx, where, s)
		if err == nil {
			err = allow(f)
		}
		if err != nil {
			return nil, err
		}
		p, err := openPostgres(ctx, where, s)
		if err != nil {
			return nil, fmt.Errorf("open database: %w", err)
		}
		return &DB{p, s}, nil
	}
	var refused error
	f, err := openSQLite(ctx, where, s, func(f Found) error {
		refused = allow(f)
		return refused
	})
	if refused != nil {
		return nil, refused
	}
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", where, s.explain(err))
	}
	return &DB{f, s}, nil
}

// IsURL reports whether Open takes where for the URL of a PostgreSQL database.
func IsURL(where string) bool {
	return strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://")
}

// Close waits for transactions in progress, on PostgreSQL for grace, then closes the database.
func (d *DB) Close() error { return d.engine.close() }

// View runs fn on one consistent state of the database. fn must not keep v, and must not call View or
// Update. It runs again if its first query finds no connection.
func (d *DB) View(ctx context.Context, fn func(v *View) error) error {
	return d.schema.explain(d.engine.view(ctx, func(tx *Tx) error { return fn(tx.View) }))
}

// Update runs fn in a transaction that is durable when Update returns nil. If fn returns an error,
// its changes are undone and Update returns that error. fn must not keep tx, must not call Update,
// and may run again from its beginning, so each run must set all of its results. A transaction that is
// in progress when ctx ends may continue for grace.
func (d *DB) Update(ctx context.Context, fn func(tx *Tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return d.schema.explain(d.engine.update(ctx, fn))
}
