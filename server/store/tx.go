package store

import "github.com/starling-grid/starling/server/db"

// A View reads the database in a transaction. It belongs to the function that Store.View or
// Update called and is not safe for concurrent use.
type View struct {
	db    *db.View
	shard Shard
}

// A Tx is a transaction of Update. It reads as a View does, and changes rows.
type Tx struct {
	*View
	*Changes
	tx *db.Tx
}

// Changes are changes whose outcome their caller does not need, because each is made only if its rows are as
// expected. They are part of a Tx, or collected for Store.Apply. They belong to one goroutine.
type Changes struct {
	changes *db.Changes
	cause   cause // of the moves that follow
}

// Collect returns Changes for Store.Apply.
func Collect() *Changes { return &Changes{changes: db.Collect()} }

// Parts of the engine that all tables use.
type (
	row     = db.Row
	rows    = db.Rows
	unix    = db.Unix
	span    = db.Span
	flag    = db.Flag
	endless = db.Endless
)

func scanID(r row) (int64, error)      { return db.ScanID(r) }
func scanString(r row) (string, error) { return db.ScanString(r) }
func jsonList(ids []int64) string      { return db.JSONList(ids) }

func all[T any](t *View, scan func(row) (T, error), query string, args ...any) ([]T, error) {
	return db.All(t.db, scan, query, args...)
}

func one[T any](t *View, scan func(row) (T, error), query string, args ...any) (T, error) {
	return db.One(t.db, scan, query, args...)
}

func (t *Tx) exec(query string, args ...any) (int64, error)      { return t.tx.Exec(query, args...) }
func (t *Tx) insert(s *db.Statement, args ...any) (int64, error) { return t.tx.Insert(s, args...) }
func (t *Tx) add(s *db.Statement, args ...any) error             { return t.tx.Add(s, args...) }
func (c *Changes) run(s *db.Statement, args ...any) error        { return c.changes.Run(s, args...) }

// execOne runs a compare-and-set. It returns ErrLost unless that affects exactly one row.
func (c *Changes) execOne(s *db.Statement, args ...any) error {
	return refused(c.changes.ExecOne(s, args...))
}

// save stores the columns that it sets and the others in which now differs from old. It returns ErrLost
// unless that affects exactly one row.
func save[T any](c *Changes, s db.Saving[T], old, now *T) error {
	update, args := s.Of(old, now)
	if update == nil {
		return nil
	}
	return c.execOne(update, args...)
}

// Change reads a record, lets a function change it, and saves it.
func Change[K, R any](read func(K) (R, error), key K, save func(old, now R) error, change func(*R)) error {
	old, err := read(key)
	if err != nil {
		return err
	}
	now := old
	change(&now)
	return save(old, now)
}

// execEach is execOne for each of several rows of arguments, see db.Tx.ExecEach.
func (c *Changes) execEach(s *db.Statement, list [][]any) error {
	return refused(c.changes.ExecEach(s, list))
}

func (s Shard) args() []any { return []any{max(s.Count, 1), s.Index} }
