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
	"time"

	"github.com/starling-grid/starling/server/db"
)

// Errors of the engine.
var (
	// ErrNotFound is returned when no row has the id or name asked for.
	ErrNotFound = db.ErrNotFound
	// ErrLost is returned by a compare-and-set when the row is no longer as the
	// caller saw it. Nothing was changed.
	ErrLost = db.ErrLost
	// ErrExists is returned when a row with the same unique name is there.
	ErrExists = db.ErrExists
	// ErrBusy is returned by Update when it met other transactions again and again.
	// Nothing was changed; later it may go through.
	ErrBusy = db.ErrBusy
	// ErrUnreachable is returned when the database server does not answer. The text of the error
	// says whether something may have been changed.
	ErrUnreachable = db.ErrUnreachable
	ErrClosed      = db.ErrClosed   // after Close
	ErrNotEmpty    = db.ErrNotEmpty // the database to which Copy should copy has rows

	// A file cannot be changed.
	ErrFull, ErrUnwritten = db.ErrFull, db.ErrUnwritten

	// A PostgreSQL server is not used though it can be reached.
	ErrStandby, ErrReplaced, ErrPooler = db.ErrStandby, db.ErrReplaced, db.ErrPooler
)

// Never is the transition time of a workunit that waits for an event only. It
// is the last second of the year 9999; BOINC's own number comes due in 2038.
var Never = time.Unix(253402300799, 0)

// A Store is an open database. It is safe for concurrent use, and several
// processes may have the same database open.
type Store struct {
	db    *db.DB
	shard Shard
}

// Open opens a database, makes its tables if there are none, and brings them up
// to date. It returns ErrNewer if they are newer than this program. where is the URL of a PostgreSQL database (postgres://…), which
// exists, or the path of an SQLite file, which is made. The caller closes it.
func Open(ctx context.Context, where string) (*Store, error) {
	return opened(db.Open(ctx, where, schema))
}

// OpenMemory is Open for tests that make millions of changes: an SQLite database in
// memory, which Close ends. View must not be called within Update.
func OpenMemory(ctx context.Context) (*Store, error) { return opened(db.OpenMemory(ctx, schema)) }

func opened(d *db.DB, err error) (*Store, error) {
	if err != nil {
		return nil, err
	}
	return &Store{db: d}, nil
}

// IsURL reports whether Open takes where for the URL of a PostgreSQL database.
func IsURL(where string) bool { return db.IsURL(where) }

// Close waits for transactions under way, then closes the database.
func (s *Store) Close() error { return s.db.Close() }

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
	return s.db.View(ctx, func(v *db.View) error { return fn(&View{v, s.shard}) })
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
	return s.db.Update(ctx, func(tx *db.Tx) error { return fn(&Tx{View: &View{tx.View, s.shard}, tx: tx}) })
}

// Joint returns a view of the same database for those who make many small transactions
// side by side. On PostgreSQL, where each statement has its price whatever it does, such
// as come while others are under way share one: they ask their queries together, one
// statement for all who ask the same, and are made durable together.
//
// In View that makes no difference. In Update each query sees what other transactions have
// made durable when it is asked, so that a function first holds the rows by which it decides
// (HoldHost, HoldWorkunits) and then reads them. It shares as long as it reads before it changes
// anything, asks for the outcome of no change, and changes what nobody else changes, each row
// on the condition that it is there and as it should be. Otherwise it is run again, in a
// transaction of its own as with any Store.
func (s *Store) Joint() *Store { return &Store{db: s.db.Joint(), shard: s.shard} }

// Check reads the whole database, if it is a file, and returns ErrDamaged if it is
// not what SQLite wrote.
func (s *Store) Check(ctx context.Context) error { return s.db.Check(ctx) }

// CheckTables is Check of one table after the other, so that nobody waits for it, and with a call of
// next before each of them: done of all were checked. An error of next ends it and is returned.
func (s *Store) CheckTables(ctx context.Context, next func(table string, done, all int) error) error {
	return s.db.CheckTables(ctx, next)
}
