package db

import (
	"cmp"
	"slices"

	"github.com/jackc/pgx/v5"
)

// pending has the changes of a transaction that PostgreSQL has not received, in order.
//
// A daemon changes hundreds of rows in one transaction, row by row, with the same few
// statements. Each statement costs the server more than the row does, so
// changes of rows by their ids with one statement become one change of many, and so do
// additions. This moves a change to an earlier place than its caller made it, but
// never before another change of the same row, and never before a statement that may affect
// any row.
type pending struct {
	list   []change
	newest map[group]int  // the last place of a statement in list
	last   map[rowKey]int // the place of the last change of a row
}

// A change is one statement with the arguments of each of its rows.
type change struct {
	group
	rows [][]any
}

// A group has all changes with one statement.
type group struct {
	*Statement
	one bool // each row must exist and be as expected
}

// A rowKey identifies a row by its id or by the columns of a unique key.
type rowKey struct {
	table string
	key   [2]any
}

// row returns the row that a statement changes.
func (s *Statement) row(args []any) rowKey {
	k := rowKey{table: s.table}
	for i := range s.keys {
		k.key[i] = plain(args[i])
	}
	return k
}

// add adds a statement that runs with each of rows.
func (w *pending) add(s *Statement, one bool, rows [][]any) {
	g := group{s, one}
	for _, args := range rows {
		at := -1
		switch {
		case s.free && s.keys > 0:
			at = w.change(g, s.row(args))
		case s.free: // other changes cannot affect a row with a new id
			at = w.group(g)
		case s.many != nil:
			if n := len(w.list); n > 0 && w.list[n-1].group == g && !w.list[n-1].has(args) {
				at = n - 1
			}
		}
		if at < 0 {
			w.newest, w.last = nil, nil // no change moves before it
			at = len(w.list)
			w.list = append(w.list, change{group: g})
		}
		w.list[at].rows = append(w.list[at].rows, args)
	}
}

// change returns the place in the list for a change of a row.
func (w *pending) change(g group, row rowKey) int {
	at := w.group(g)
	if before, ok := w.last[row]; ok && before >= at {
		delete(w.newest, g)
		at = w.group(g)
	}
	w.last[row] = at
	return at
}

// group returns the place in the list of the newest statement of a group.
func (w *pending) group(g group) int {
	if w.newest == nil {
		w.newest, w.last = make(map[group]int), make(map[rowKey]int)
	}
	at, ok := w.newest[g]
	if !ok {
		at = len(w.list)
		w.list = append(w.list, change{group: g})
		w.newest[g] = at
	}
	return at
}

// has reports whether c changes the same row.
func (c *change) has(args []any) bool {
	row := c.row(args)
	return c.keys > 0 && slices.ContainsFunc(c.rows, func(of []any) bool { return c.row(of) == row })
}

// batch moves all changes to the end of a batch, in order.
func (w *pending) batch(b *pgx.Batch) {
	for _, c := range w.list {
		texts := c.postgres(c.rows[0])
		switch n := len(c.rows); {
		case n == 1 && c.one:
			b.Queue(texts.sure, clean(c.rows[0])...)
		case n == 1 && c.text != "":
			b.Queue(texts.one, clean(c.rows[0])...)
		case c.one:
			b.Queue(texts.eachSure, append(c.arrays(), int64(n))...)
		default:
			b.Queue(texts.each, c.arrays()...)
		}
	}
	*w = pending{}
}

// arrays returns the arguments of all rows. Changes of rows by their keys are in one order, so that transactions
// that change the same rows do not deadlock.
func (c change) arrays() []any {
	if !c.adds {
		slices.SortFunc(c.rows, func(x, y []any) int {
			return slices.CompareFunc(x[:c.keys], y[:c.keys], func(x, y any) int { return cmp.Compare(plain(x).(int64), plain(y).(int64)) })
		})
	}
	return transposed(c.rows)
}
