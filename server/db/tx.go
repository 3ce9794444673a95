package db

import (
	"context"
	"slices"
)

// A View reads the database in a transaction. It belongs to the function that DB.View or DB.Update
// called and is not safe for concurrent use.
type View struct {
	ctx context.Context
	q   queries
}

// A Tx is a transaction of DB.Update. It reads as a View does, and changes rows.
type Tx struct {
	*View
	*Changes
}

func newTx(ctx context.Context, q queries) *Tx { return &Tx{&View{ctx, q}, &Changes{ctx, q}} }

// queries run within a transaction, on SQLite or PostgreSQL.
type queries interface {
	// exec runs a change and returns the number of rows that it affects.
	exec(ctx context.Context, query string, args []any) (int64, error)
	// ask asks questions, all in one round trip.
	ask(ctx context.Context, list []Question) error
	// insert runs an Insert for one or more rows of arguments. It returns the ids of the new rows in their order,
	// and ErrExists if fewer rows are new.
	insert(ctx context.Context, s *Statement, list [][]any) ([]int64, error)
	// postpone accepts a change, once for each of several rows of arguments, whose outcome the
	// transaction does not need, and makes it before the next query runs. one demands that each
	// affects exactly one row. It returns false if the change must be made now.
	postpone(s *Statement, list [][]any, one bool) bool
	// lock keeps other transactions from changing a table.
	lock(ctx context.Context, table string) error
	// trigger reports whether a trigger exists and is enabled.
	trigger(ctx context.Context, name string) (bool, error)
	// damage lists the defects of a table in the database's file, or of the whole file if
	// table is "". It lists none for a database on a server.
	damage(ctx context.Context, table string) ([]string, error)
}

// A Question is a query with the function that gets every row of its answer. The zero Question asks nothing.
type Question struct {
	query string
	args  []any
	each  func(Rows) error
}

// NewQuestion makes the question for the rows of a query. found gets what scan reads from each.
func NewQuestion[T any](scan func(Row) (T, error), found func(T), query string, args ...any) Question {
	return Question{query, args, func(r Rows) error {
		v, err := scan(r)
		if err == nil {
			found(v)
		}
		return err
	}}
}

// Ask asks questions that do not depend on each other, in one round trip to the database. It returns the first
// error.
func (t *View) Ask(list ...Question) error {
	list = slices.DeleteFunc(list, func(q Question) bool { return q.query == "" })
	if len(list) == 0 {
		return nil
	}
	return t.q.ask(t.ctx, list)
}

// Query calls each for every row of a query.
func (t *View) Query(query string, args []any, each func(Rows) error) error {
	return t.q.ask(t.ctx, []Question{{query, args, each}})
}

// HasTrigger reports whether a trigger exists and is enabled.
func (t *View) HasTrigger(name string) (bool, error) { return t.q.trigger(t.ctx, name) }

// Damage lists the defects of the database's file, if it is one.
func (t *View) Damage() ([]string, error) { return t.q.damage(t.ctx, "") }

// All runs a query and returns the result of scan for each row.
func All[T any](t *View, scan func(Row) (T, error), query string, args ...any) (out []T, err error) {
	if err = t.Ask(NewQuestion(scan, func(v T) { out = append(out, v) }, query, args...)); err != nil {
		return nil, err
	}
	return out, nil
}

// One is All for a query of one row. Without a row it returns ErrNotFound.
func One[T any](t *View, scan func(Row) (T, error), query string, args ...any) (T, error) {
	list, err := All(t, scan, query, args...)
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		var zero T
		return zero, err
	}
	return list[0], nil
}

// Exec makes a change now, and returns the number of rows that it affects.
func (t *Tx) Exec(query string, args ...any) (int64, error) {
	return t.View.q.exec(t.View.ctx, query, args)
}

// Insert makes an Insert now, and returns the new row's id, or ErrExists if its name is taken.
func (t *Tx) Insert(s *Statement, args ...any) (int64, error) {
	ids, err := t.InsertEach(s, [][]any{args})
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// InsertEach is Insert for each of several rows of arguments. After ErrExists some of the rows may have been
// added, whose ids it returns, so the caller must abandon the transaction.
func (t *Tx) InsertEach(s *Statement, list [][]any) ([]int64, error) {
	if len(list) == 0 {
		return nil, nil
	}
	return t.View.q.insert(t.View.ctx, s, list)
}

// Add is Insert for callers that do not need the id.
func (t *Tx) Add(s *Statement, args ...any) error {
	if t.Changes.q.postpone(s, [][]any{args}, false) {
		return nil
	}
	_, err := t.Insert(s, args...)
	return err
}

// Lock keeps other transactions from changing a table until this one ends. It must be the first
// call in its transaction.
func (t *Tx) Lock(table string) error { return t.View.q.lock(t.View.ctx, table) }
