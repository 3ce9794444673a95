// Package db is the engine under package store: transactions on SQLite or PostgreSQL, statements made
// from lists of columns, migrations, copies from one database to another, and checks of a database's
// file.
//
// It contains no table. Everything about the tables of the program comes in a Schema. Queries are
// written for SQLite, and the package translates them for PostgreSQL.
package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

var (
	// ErrNotFound is returned when no row has the id or name asked for.
	ErrNotFound = errors.New("not found")
	// ErrLost is returned by a compare-and-set when the row is no longer as the
	// caller saw it. Nothing was changed.
	ErrLost = errors.New("changed by another process")
	// ErrExists is returned when a row with the same unique name exists.
	ErrExists = errors.New("already exists")
	// ErrBusy is returned by Update after repeated conflicts with other transactions.
	// Nothing was changed, and a later attempt may succeed.
	ErrBusy = errors.New("gave up after conflicts with other transactions; nothing was changed")
	// ErrUnreachable is returned when the database server does not answer. The text of the error
	// includes whether something may have been changed.
	ErrUnreachable = errors.New("the database cannot be reached")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("store is closed")
)

// A Schema is the program's part of a database.
type Schema struct {
	// Migrations has the files migrations/NNN_name.sql, which make the tables. They are written for
	// SQLite, and make no use of goose's directives.
	Migrations fs.FS
	// Latest is the number of the last migration.
	Latest int64
	// Newer returns the error for a database whose last migration is greater than Latest.
	Newer func(version int64) error
	// Damaged is the error for a file that SQLite did not write.
	Damaged error

	// SQLiteTriggers and PostgresTriggers return the statements that replace all triggers. They run if
	// TriggerTable, which has one column named sql, has others or none.
	SQLiteTriggers, PostgresTriggers func() []string
	TriggerTable                     string

	// Identity is a query for the mark of a database, which is in IdentityTable.
	Identity, IdentityTable string

	// Private are tables that are not copied.
	Private []string
	// Stamp is a table that triggers change as other tables are filled. It is copied last and may
	// have a row beforehand.
	Stamp string
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
	close() error
}

// Open opens a database, makes its tables if it has none, and brings them up to date. where is the URL
// of a PostgreSQL database (postgres://…), which exists, or the path of an SQLite file, which is made.
// The caller closes it.
func Open(ctx context.Context, where string, s Schema) (*DB, error) {
	if IsURL(where) {
		p, err := openPostgres(ctx, where, s)
		if err != nil {
			return nil, fmt.Errorf("open database: %w", err)
		}
		return &DB{p, s}, nil
	}
	f, err := openSQLite(ctx, where, s)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", where, s.explain(err))
	}
	return &DB{f, s}, nil
}

// IsURL reports whether Open takes where for the URL of a PostgreSQL database.
func IsURL(where string) bool {
	return strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://")
}

// Close waits for transactions in progress, then closes the database.
func (d *DB) Close() error { return d.engine.close() }

// View runs fn on one consistent state of the database. fn must not keep v, and must not call View or
// Update. It runs again if its first query finds no connection.
func (d *DB) View(ctx context.Context, fn func(v *View) error) error {
	return d.schema.explain(d.engine.view(ctx, func(tx *Tx) error { return fn(tx.View) }))
}

// Update runs fn in a transaction that is durable when Update returns nil. If fn returns an error, its
// changes are undone and Update returns that error. fn must not keep tx, must not call Update, and may
// run again from its beginning, so it must set anew what it sets outside. Once it has begun, ctx no
// longer matters.
func (d *DB) Update(ctx context.Context, fn func(tx *Tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return d.schema.explain(d.engine.update(ctx, fn))
}
