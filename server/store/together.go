package store

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// errNoted ends a look that has told its query.
var errNoted = errors.New("noted")

// together runs each look until it tells its query, asks all queries at once, and runs
// each look again on its answer.
func (s *session) together(t *Tx, looks []func() error) error {
	if len(looks) < 2 {
		return inTurn(looks)
	}
	defer func(q queries) { t.q = q }(t.q)
	var list []question
	answers := make([]*answer, len(looks)) // nil: the look asked nothing and is done
	for i, look := range looks {
		note := &notes{session: s}
		t.q = note
		if err := look(); !errors.Is(err, errNoted) {
			if err != nil {
				return err
			}
			continue
		}
		a := &answer{session: s, types: s.conn.TypeMap()}
		note.question.each = a.keep
		list, answers[i] = append(list, note.question), a
	}
	if len(list) == 0 {
		return nil
	}
	if _, err := s.ask(t.ctx, list); err != nil {
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

// notes take down a query.
type notes struct {
	*session
	question question
}

func (n *notes) query(_ context.Context, query string, args []any, _ func(rows) error) error {
	n.question = question{query: n.p.prepare(query).query, args: clean(args)}
	return errNoted
}

// An answer is what a query brought, for a look that asks it again.
type answer struct {
	*session
	types  *pgtype.Map
	fields []pgconn.FieldDescription
	rows   [][][]byte
	told   bool
}

func (a *answer) keep(r pgx.Rows) error {
	if a.fields == nil {
		a.fields = slices.Clone(r.FieldDescriptions())
	}
	var row [][]byte
	for _, v := range r.RawValues() {
		if v != nil { // NULL
			v = append(make([]byte, 0, len(v)), v...)
		}
		row = append(row, v)
	}
	a.rows = append(a.rows, row)
	return nil
}

// query gives what was kept, once: a second query of a look goes to the database.
func (a *answer) query(ctx context.Context, query string, args []any, each func(rows) error) error {
	if a.told {
		return a.session.query(ctx, query, args, each)
	}
	a.told = true
	for _, row := range a.rows {
		if err := each(kept{a, row}); err != nil {
			return err
		}
	}
	return nil
}

// A kept row was read before.
type kept struct {
	*answer
	row [][]byte
}

func (k kept) Scan(dest ...any) error { return pgx.ScanRow(k.types, k.fields, k.row, dest...) }

func (k kept) Columns() (names []string, err error) {
	for _, f := range k.fields {
		names = append(names, f.Name)
	}
	return names, nil
}
