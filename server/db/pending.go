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
// additions (prepareEach). This moves a change to an earlier place than its caller made it, but
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
	byID bool
	rows [][]any
}

// A group has all changes with one statement.
type group struct {
	query string
	one   bool // each row must exist and be as expected
}

// A rowKey identifies a row by its id or by the columns of a unique key.
type rowKey struct {
	table string
	key   [2]any
}

func keyOf(s shape, args []any) rowKey {
	k := rowKey{table: s.table}
	for i := range min(s.keys, len(k.key)) {
		k.key[i] = plain(args[i])
	}
	return k
}

// add adds a statement that runs with each of rows.
func (w *pending) add(p *postgres, query string, one bool, rows [][]any) {
	s := p.shape(query)
	for _, args := range rows {
		at := -1
		switch {
		case !uniform(args):
		case s.table != "" && s.free:
			at = w.change(group{query, one}, keyOf(s, args))
		case s.free: // other changes cannot affect a row with a new id
			at = w.group(group{query, one})
		case s.table != "" || s.adds:
			if n := len(w.list); n > 0 && w.list[n-1].query == query && w.list[n-1].one == one && !w.list[n-1].has(args) {
				at = n - 1
			}
		}
		if at < 0 {
			w.newest, w.last = nil, nil // no change moves before it
			at = len(w.list)
			w.list = append(w.list, change{group: group{query, one}, byID: s.table != "" && !s.adds})
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
	w.list[at].byID = true
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

// uniform reports whether arguments are of types of which PostgreSQL has arrays.
func uniform(args []any) bool {
	for _, a := range args {
		if _, ok := simple(a); !ok {
			return false
		}
	}
	return len(args) > 0
}

// has reports whether c has a row with the same key, which is its id or else the first two
// arguments.
func (c *change) has(args []any) bool {
	key := min(2, len(args))
	if c.byID {
		key = 1
	}
	return slices.ContainsFunc(c.rows, func(row []any) bool { return slices.Equal(row[:key], args[:key]) })
}

// batch moves all changes to the end of a batch, in order.
func (w *pending) batch(p *postgres, b *pgx.Batch) {
	for i := range w.list {
		c := &w.list[i]
		if len(c.rows) > 1 {
			if c.byID { // in one order, so that transactions that change the same rows do not deadlock
				slices.SortFunc(c.rows, func(x, y []any) int { return cmp.Compare(plain(x[0]).(int64), plain(y[0]).(int64)) })
			}
			q := p.prepareEach(c.query, c.rows)
			args := transposed(c.rows)
			if c.one {
				b.Queue(q.must, append(args, int64(len(c.rows)))...)
			} else {
				b.Queue(q.query, args...)
			}
			continue
		}
		q := p.prepare(c.query)
		text := q.query
		if c.one {
			text = q.must
		}
		b.Queue(text, clean(c.rows[0])...)
	}
	*w = pending{}
}
