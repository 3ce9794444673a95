package db

import (
	"cmp"
	"slices"

	"github.com/jackc/pgx/v5"
)

// pending are the changes of a transaction that have yet to go to PostgreSQL, in order.
//
// A daemon changes a hundred workunits and their results in one transaction, row by row,
// with the same few statements. Each statement costs the server more than the row does, so
// changes of rows by their ids with one statement become one change of many, and so do
// additions (prepareEach). A change goes earlier for that than its caller made it, but
// never past another change of the same row, and never past a statement that may concern
// any row.
type pending struct {
	list   []change
	newest map[group]int // of a statement: its place in list
	last   map[place]int // what changes a row last, likewise
}

// A change is one statement with the arguments of each of its rows.
type change struct {
	query string
	one   bool // each row has to be met
	byID  bool
	rows  [][]any
}

type group struct {
	query string
	one   bool
}

// A place is a row, by its id or by what is known of it.
type place struct {
	table string
	id    [2]any
}

func placeOf(s shape, args []any) place {
	p := place{table: s.table}
	for i := range min(s.keys, len(p.id)) {
		p.id[i] = plain(args[i])
	}
	return p
}

// add takes a statement, to be run with each of rows.
func (w *pending) add(p *postgres, query string, one bool, rows [][]any) {
	s := p.shape(query)
	for _, args := range rows {
		at := -1
		switch {
		case !uniform(args):
		case s.table != "" && s.free:
			at = w.change(group{query, one}, placeOf(s, args))
		case s.free: // others cannot concern it: nobody knows its id yet
			at = w.group(group{query, one})
		case s.table != "" || s.adds:
			if n := len(w.list); n > 0 && w.list[n-1].query == query && w.list[n-1].one == one && !w.list[n-1].has(args) {
				at = n - 1
			}
		}
		if at < 0 {
			w.newest, w.last = nil, nil // nothing goes past it
			at = len(w.list)
			w.list = append(w.list, change{query: query, one: one, byID: s.table != "" && !s.adds})
		}
		w.list[at].rows = append(w.list[at].rows, args)
	}
}

// change returns the place in the list for a change of a row.
func (w *pending) change(g group, row place) int {
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
		w.newest, w.last = make(map[group]int), make(map[place]int)
	}
	at, ok := w.newest[g]
	if !ok {
		at = len(w.list)
		w.list = append(w.list, change{query: g.query, one: g.one})
		w.newest[g] = at
	}
	return at
}

// uniform reports whether arguments may be of several rows: they are of types of which
// there are arrays.
func uniform(args []any) bool {
	for _, a := range args {
		if _, ok := simple(a); !ok {
			return false
		}
	}
	return len(args) > 0
}

// has reports whether a row with the same key is in c: its id, or else the first two
// arguments.
func (c *change) has(args []any) bool {
	key := min(2, len(args))
	if c.byID {
		key = 1
	}
	return slices.ContainsFunc(c.rows, func(row []any) bool { return slices.Equal(row[:key], args[:key]) })
}

// batch moves all of it to the end of a batch, in order.
func (w *pending) batch(p *postgres, b *pgx.Batch) {
	for i := range w.list {
		c := &w.list[i]
		if len(c.rows) > 1 {
			if c.byID { // so that transactions which change the same rows do not wait for each other in a circle
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
