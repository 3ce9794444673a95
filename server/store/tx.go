package store

import "context"

// A View reads the database in a transaction. It belongs to the function that Store.View or
// Update called and is not safe for concurrent use.
type View struct {
	ctx   context.Context
	q     queries
	shard Shard
}

// A Tx is a transaction of Update: it reads as a View does, and changes rows.
type Tx struct {
	*View
	cause cause // of the moves made in it
}

// queries run within a transaction, on SQLite or PostgreSQL.
type queries interface {
	// exec runs a change and returns how many rows it met.
	exec(ctx context.Context, query string, args []any) (int64, error)
	// query calls each for every row.
	query(ctx context.Context, query string, args []any, each func(rows) error) error
	// together runs looks, each of which asks one query and does so again when it is run
	// again; t is the transaction that they ask.
	together(t *View, looks []func() error) error
	// insert runs an INSERT and returns the new row's id, or ErrExists.
	insert(ctx context.Context, query string, args []any) (int64, error)
	// deferExec takes a change whose outcome the transaction can do without, so that it
	// is made at some time before whatever comes next is seen. one demands that it
	// meets exactly one row. It returns false if the change is to be made now.
	deferExec(query string, args []any, one bool) bool
	// each runs a change of the row with id $1 for each of several rows of arguments, of
	// the same types, and returns how many rows it met in all.
	each(ctx context.Context, query string, list [][]any) (int64, error)
	// deferEach is deferExec for each. one demands that as many rows are met as there are in
	// list.
	deferEach(query string, list [][]any, one bool) bool
	// hold runs a query that keeps other transactions from changing the rows with some ids.
	hold(ctx context.Context, query string, ids []int64) error
	lockFiles(ctx context.Context) error
	// trigger reports whether a trigger is there and works.
	trigger(ctx context.Context, name string) (bool, error)
	// damage returns what is wrong with the part of the database's file that is a table's, if the
	// file is ours; "": with any of it.
	damage(ctx context.Context, table string) ([]string, error)
}

// exec runs a change and returns how many rows it met.
func (t *Tx) exec(query string, args ...any) (int64, error) { return t.q.exec(t.ctx, query, args) }

// insert runs an INSERT and returns the new row's id, or ErrExists when its name
// is taken.
func (t *Tx) insert(query string, args ...any) (int64, error) { return t.q.insert(t.ctx, query, args) }

// add is insert where the id is of no interest.
func (t *Tx) add(query string, args ...any) error {
	if t.q.deferExec(query, args, false) {
		return nil
	}
	_, err := t.insert(query, args...)
	return err
}

// run is exec where it is of no interest how many rows the change meets.
func (t *Tx) run(query string, args ...any) error {
	if t.q.deferExec(query, args, false) {
		return nil
	}
	_, err := t.exec(query, args...)
	return err
}

// Together runs looks, of which none needs what another finds, on one way to the database
// and back. Each calls one of the methods of t that read, whose error it returns, and sets
// only what that returns: it may be run twice. Together returns the first error.
func (t *View) Together(looks ...func() error) error { return t.q.together(t, looks) }

// queue runs a query for ids that wait. Its first two parameters are the shard.
func (t *View) queue(query string, args ...any) ([]int64, error) {
	return all(t, scanID, query, append(t.shard.args(), args...)...)
}

func (s Shard) args() []any { return []any{max(s.Count, 1), s.Index} }

// execOne runs a compare-and-set that has to meet exactly one row.
func (t *Tx) execOne(query string, args ...any) error {
	if t.q.deferExec(query, args, true) {
		return nil
	}
	switch n, err := t.exec(query, args...); {
	case err != nil:
		return refused(err)
	case n != 1:
		return ErrLost
	}
	return nil
}

// execEach is execOne for each of several rows of arguments, of which no two may be about
// the same row. After an error some may have been changed: the caller gives the
// transaction up.
func (t *Tx) execEach(query string, list [][]any) error {
	switch {
	case len(list) == 0:
		return nil
	case len(list) == 1: // quicker so
		return t.execOne(query, list[0]...)
	case t.q.deferEach(query, list, true):
		return nil
	}
	switch n, err := t.q.each(t.ctx, query, list); {
	case err != nil:
		return refused(err)
	case n != int64(len(list)):
		return ErrLost
	}
	return nil
}

// all runs a query and returns what scan makes of each row.
func all[T any](t *View, scan func(row) (T, error), query string, args ...any) (out []T, err error) {
	err = t.q.query(t.ctx, query, args, func(r rows) error {
		v, err := scan(r)
		out = append(out, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// one is all for a query of one row; without a row it returns ErrNotFound.
func one[T any](t *View, scan func(row) (T, error), query string, args ...any) (T, error) {
	list, err := all(t, scan, query, args...)
	var zero T
	switch {
	case err != nil:
		return zero, err
	case len(list) == 0:
		return zero, ErrNotFound
	}
	return list[0], nil
}
