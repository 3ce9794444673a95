// Package store is the server's database: BOINC's tables, with every query that
// is run against them.
//
// Work is done in transactions: Update for changes, View for a consistent look.
// A change of state is a compare-and-set on what its caller saw, so that daemons
// and other processes may race without locks: the loser gets ErrLost and looks
// again. Time comes from the caller; no query asks the database for it.
//
// The package decides nothing. What follows from a state is known by the
// transitioner, validator, scheduler and so on.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

var (
	// ErrNotFound is returned when no row has the id or name asked for.
	ErrNotFound = errors.New("not found")
	// ErrLost is returned by a compare-and-set when the row is no longer as the
	// caller saw it. Nothing was changed.
	ErrLost = errors.New("changed by another process")
	// ErrExists is returned when a row with the same unique name is there.
	ErrExists = errors.New("already exists")
	// ErrBusy is returned by Update when it met other transactions again and again.
	// Nothing was changed; later it may go through.
	ErrBusy = errors.New("gave up after conflicts with other transactions; nothing was changed")
	// ErrUnreachable is returned when the database server does not answer. The text of the error
	// says whether something may have been changed.
	ErrUnreachable = errors.New("the database cannot be reached")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("store is closed")
)

// Never is the transition time of a workunit that waits for an event only. It
// is the last second of the year 9999; BOINC's own number comes due in 2038.
var Never = time.Unix(253402300799, 0)

//go:embed migrations/*.sql
var migrations embed.FS

// A Store is an open database. It is safe for concurrent use, and several
// processes may have the same database open.
type Store struct {
	db    database
	shard Shard
}

// A database is SQLite or PostgreSQL. Queries are written in what both
// understand; the rest is here and in the files named after them.
type database interface {
	view(ctx context.Context, fn func(tx *Tx) error) error
	update(ctx context.Context, fn func(tx *Tx) error) error
	close() error
}

// Open opens a database, makes its tables if there are none, and brings them up
// to date. It returns ErrNewer if they are newer than this program. where is the URL of a PostgreSQL database (postgres://…), which
// exists, or the path of an SQLite file, which is made. The caller closes it.
func Open(ctx context.Context, where string) (*Store, error) {
	if IsURL(where) {
		db, err := openPostgres(ctx, where)
		if err != nil {
			return nil, fmt.Errorf("open database: %w", err)
		}
		return &Store{db: db}, nil
	}
	db, err := openSQLite(ctx, where)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", where, explain(err))
	}
	return &Store{db: db}, nil
}

// IsURL reports whether Open takes where for the URL of a PostgreSQL database.
func IsURL(where string) bool {
	return strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://")
}

// Close waits for transactions under way, then closes the database.
func (s *Store) Close() error { return s.db.close() }

// A Shard is what one of several like processes handles: the rows whose id is
// Index modulo Count. The zero Shard is everything.
type Shard struct{ Index, Count int64 }

// Shard returns a view of the same database in whose queues only the ids of one
// shard wait. Everything else is as before. It is closed with s.
func (s *Store) Shard(sh Shard) *Store { return &Store{db: s.db, shard: sh} }

// Has reports whether an id is of the shard.
func (s Shard) Has(id int64) bool { return s.Count <= 1 || id%s.Count == s.Index }

// View runs fn on one consistent state of the database. fn must not keep v,
// and must not call View or Update. It is run again if there was no connection at its
// first query.
func (s *Store) View(ctx context.Context, fn func(v *View) error) error {
	return explain(s.db.view(ctx, s.sharded(func(tx *Tx) error { return fn(tx.View) })))
}

// Update runs fn in a transaction that is durable when Update returns nil. If
// fn returns an error, nothing that it did remains and Update returns that
// error. fn must not keep tx, must not call Update, and should be quick: on
// SQLite all other changes wait for it, on PostgreSQL those of the same rows.
// It may be run again from its beginning when it met another transaction or a
// change failed that it did not wait for, so what it sets outside must be set anew
// each time, and an error that it meets may be one of a run that does not count. Once it has begun, ctx no
// longer matters.
func (s *Store) Update(ctx context.Context, fn func(tx *Tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return explain(s.db.update(ctx, s.sharded(fn)))
}

func (s *Store) sharded(fn func(tx *Tx) error) func(tx *Tx) error {
	return func(tx *Tx) error {
		tx.shard = s.shard
		return fn(tx)
	}
}

// migrate brings a database up to date.
func migrate(ctx context.Context, dialect goose.Dialect, db *sql.DB, translate func(string) string, opts ...goose.ProviderOption) error {
	list, err := migrationList(translate)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(dialect, db, nil, append(opts, goose.WithGoMigrations(list...))...)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	version, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	if version > Latest {
		return Found{Version: version}.Fits()
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	return nil
}

// migrationList returns the migrations in the words of a dialect. The database gets each file
// as a whole, within a transaction; goose's own reader, which divides files into statements,
// takes longer than the database needs for them.
func migrationList(translate func(string) string) (list []*goose.Migration, err error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		text, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		up := func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, translate(string(text))); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}
		list = append(list, goose.NewGoMigration(version, &goose.GoFunc{RunTx: up}, nil))
	}
	return list, nil
}
