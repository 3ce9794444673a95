package db

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// errNoted ends a look that has told its query.
var errNoted = errors.New("noted")

// together runs each look until it tells its query, has all queries asked at once, and
// runs each look again on its answer.
func together(t *View, looks []func() error, ask func(list []*answer) error) error {
	if len(looks) < 2 {
		return inTurn(looks)
	}
	q := t.q
	defer func() { t.q = q }()
	var list []*answer
	answers := make([]*answer, len(looks)) // nil: the look asked nothing and is done
	for i, look := range looks {
		a := &answer{queries: q}
		t.q = (*notes)(a)
		if err := look(); !errors.Is(err, errNoted) {
			if err != nil {
				return err
			}
			continue
		}
		list, answers[i] = append(list, a), a
	}
	if len(list) == 0 {
		return nil
	}
	if err := ask(list); err != nil {
		return err
	}
	for i, look := range looks {
		if answers[i] == nil {
			continue
		}
		t.q = answers[i]
		if err := look(); err != nil {
			return err
		}
	}
	return nil
}

// An answer is what a query brought, for a look that asks it again.
type answer struct {
	queries // of the transaction
	text    string
	args    []any
	held    []int64 // rows to hold: the query's argument
	fields  []pgconn.FieldDescription
	rows    [][][]byte
	told    bool
}

// notes take down a query.
type notes answer

func (n *notes) query(_ context.Context, query string, args []any, _ func(Rows) error) error {
	n.text, n.args = query, args
	return errNoted
}

func (n *notes) hold(_ context.Context, query string, ids []int64) error {
	n.text, n.held = query, ids
	return errNoted
}

func (a *answer) hold(ctx context.Context, query string, ids []int64) error {
	if a.told {
		return a.queries.hold(ctx, query, ids)
	}
	a.told = true
	return nil
}

// keep keeps the row at which r is.
func (a *answer) keep(r pgx.Rows) error {
	if a.fields == nil {
		a.fields = slices.Clone(r.FieldDescriptions())
	}
	a.rows = append(a.rows, copied(r.RawValues()))
	return nil
}

func copied(values [][]byte) [][]byte {
	row := make([][]byte, len(values))
	for i, v := range values {
		if v != nil { // NULL
			row[i] = append(make([]byte, 0, len(v)), v...)
		}
	}
	return row
}

// query gives what was kept, once: a second query of a look goes to the database.
func (a *answer) query(ctx context.Context, query string, args []any, each func(Rows) error) error {
	if a.told {
		return a.queries.query(ctx, query, args, each)
	}
	a.told = true
	return a.tell(each)
}

// typeMaps are for reading values; each is of one goroutine at a time.
var typeMaps = sync.Pool{New: func() any { return pgtype.NewMap() }}

// tell calls each for every row.
func (a *answer) tell(each func(Rows) error) error {
	types := typeMaps.Get().(*pgtype.Map)
	defer typeMaps.Put(types)
	for _, row := range a.rows {
		if err := each(kept{a, types, row}); err != nil {
			return err
		}
	}
	return nil
}

// A kept row was read before.
type kept struct {
	*answer
	types *pgtype.Map
	row   [][]byte
}

func (k kept) Scan(dest ...any) error { return pgx.ScanRow(k.types, k.fields, k.row, dest...) }

func (k kept) Columns() (names []string, err error) {
	for _, f := range k.fields {
		names = append(names, f.Name)
	}
	return names, nil
}
