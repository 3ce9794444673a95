// Package store is the server's database: BOINC's tables, with every query on them. Package db is
// the engine below it.
//
// Every query runs in a transaction: Update makes changes, View only reads. A change of state is a
// compare-and-set on the state that its caller saw, so that daemons and other processes may race
// without locks: the loser gets ErrLost and reads again. Callers pass the time, and the database's
// clock is never used.
//
// The package does not make decisions. These are up to the transitioner, validator, scheduler and
// so on.
package store

import (
	"context"
	"fmt"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// Errors of the engine.
var (
	ErrNotFound = db.ErrNotFound // no row has the id or name asked for
	// ErrLost is returned by a compare-and-set when the row differs from the state that the caller
	// saw. Nothing was changed.
	ErrLost   = db.ErrLost
	ErrExists = db.ErrExists // a row has the same unique name
	// ErrBusy is returned by Update after repeated conflicts with other transactions.
	// Nothing was changed, and a later attempt may succeed.
	ErrBusy = db.ErrBusy
	// ErrUnreachable is returned when the database server does not answer. The text of the error
	// includes whether something may have been changed.
	ErrUnreachable = db.ErrUnreachable
	ErrClosed      = db.ErrClosed    // after Close
	ErrFull        = db.ErrFull      // the disk is full
	ErrUnwritten   = db.ErrUnwritten // the database's file cannot be written
	ErrDisk        = db.ErrDisk      // the disk with the database's file has errors
	ErrNotEmpty    = db.ErrNotEmpty  // the target of Copy has rows

	// A PostgreSQL server is not used though it can be reached.
	ErrStandby, ErrReplaced, ErrPooler = db.ErrStandby, db.ErrReplaced, db.ErrPooler
)

// Never is the transition time of a workunit that waits for an event only. It is the last second of
// the year 9999. BOINC's own number is a time in 2038.
var Never = time.Unix(253402300799, 0)

// A Store is an open database. It is safe for concurrent use, and several
// processes may have the same database open.
type Store struct {
	db    *db.DB
	shard Shard
}

// Open opens a database, makes its tables if they are missing, and brings them up to date. It
// returns ErrNewer if they are newer than this program. where is the URL of an existing PostgreSQL
// database (postgres://…), or the path of an SQLite file, which Open makes if it is missing. The
// caller closes it.
func Open(ctx context.Context, where string) (*Store, error) {
	return opened(db.Open(ctx, where, schema))
}

// OpenIf is Open if the function allow returns nil. It gets the result of Inspect, before anything is changed.
func OpenIf(ctx context.Context, where string, allow func(Found) error) (*Store, error) {
	return opened(db.OpenIf(ctx, where, schema, func(f db.Found) error { return allow(Found(f)) }))
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

// Close waits for transactions in progress, then closes the database.
func (s *Store) Close() error { return s.db.Close() }

// A Shard is the part of one of several equal processes: the rows whose id is
// Index modulo Count. The zero Shard has all rows.
type Shard struct{ Index, Count int64 }

// Shard returns a handle on the same database whose queues have only the ids of one
// shard. Everything else is the same. It is closed with s.
func (s *Store) Shard(sh Shard) *Store { return &Store{db: s.db, shard: sh} }

// Daemon returns the name of a daemon of this shard. Several equal ones have different names.
func (s *Store) Daemon(name string) string { return s.shard.daemon(name) }

func (s Shard) daemon(name string) string {
	if s.Count <= 1 {
		return name
	}
	return fmt.Sprintf("%s %d of %d", name, s.Index, s.Count)
}

// Has reports whether an id is of the shard.
func (s Shard) Has(id int64) bool { return s.Count <= 1 || id%s.Count == s.Index }

// View runs fn on one consistent state of the database. fn must not keep v,
// and must not call View or Update. It runs again if its first query finds no connection.
func (s *Store) View(ctx context.Context, fn func(v *View) error) error {
	return s.db.View(ctx, func(v *db.View) error { return fn(&View{v, s.shard}) })
}

// Read is View for a function that returns a value.
func Read[T any](ctx context.Context, s *Store, fn func(v *View) (T, error)) (x T, err error) {
	err = s.View(ctx, func(v *View) (err error) {
		x, err = fn(v)
		return err
	})
	return x, err
}

// Update runs fn in a transaction that is durable when Update returns nil. If fn returns an error,
// its changes are undone and Update returns that error. fn must not keep tx, must not call Update,
// and should be quick: on SQLite all other changes wait for it, on PostgreSQL changes of the same
// rows do. Every change of a workunit's outcome, or of one of its results, writes the workunit's
// row. After a conflict with another transaction, or the failure of a postponed change, fn runs
// again from its beginning. So each run must set all of its results, and an error that fn sees may
// be of a run that does not count. Once the transaction has begun, ctx no longer matters.
func (s *Store) Update(ctx context.Context, fn func(tx *Tx) error) error {
	return s.db.Update(ctx, func(tx *db.Tx) error { return fn(&Tx{&View{tx.View, s.shard}, &Changes{changes: tx.Changes}, tx}) })
}

// Apply makes collected changes, all or none of them. They are durable when it returns nil. It returns
// ErrLost if a row differs from the state that the caller saw. On both databases, changes of several
// callers that wait at the same time share a transaction.
//
// On PostgreSQL, a condition on other rows than the one that is changed is sure to hold only if these
// are held (HoldWorkunits) by a change before.
func (s *Store) Apply(ctx context.Context, c *Changes) error {
	return refused(s.db.Apply(ctx, c.changes))
}

// Check reads the whole database, if it is a file, and returns ErrDamaged if it is
// not what SQLite wrote.
func (s *Store) Check(ctx context.Context) error { return s.db.Check(ctx) }

// CheckTables is Check of one table after the other, which delays no other transaction, with a call of
// next before each of them. done of all were checked by then. It returns the first error of next.
func (s *Store) CheckTables(ctx context.Context, next func(table string, done, all int) error) error {
	return s.db.CheckTables(ctx, next)
}
