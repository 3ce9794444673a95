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

// errRecorded ends a read whose query was recorded.
var errRecorded = errors.New("recorded")

// together runs each read to record its query, asks all queries at once, and runs each read again
// with its answer.
func together(t *View, reads []func() error, ask func(list []*lookup) error) error {
	if len(reads) < 2 {
		return oneByOne(reads)
	}
	q := t.q
	defer func() { t.q = q }()
	var list []*lookup
	lookups := make([]*lookup, len(reads)) // nil: the read asked nothing and is done
	for i, read := range reads {
		l := &lookup{queries: q}
		t.q = (*recorder)(l)
		if err := read(); !errors.Is(err, errRecorded) {
			if err != nil {
				return err
			}
			continue
		}
		list, lookups[i] = append(list, l), l
	}
	if len(list) == 0 {
		return nil
	}
	if err := ask(list); err != nil {
		return err
	}
	for i, read := range reads {
		if lookups[i] == nil {
			continue
		}
		t.q = lookups[i]
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

func oneByOne(reads []func() error) error {
	for _, read := range reads {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// A lookup is a query with its answer, for a read that asks it again.
type lookup struct {
	queries // of the transaction
	text    string
	args    []any
	held    []int64 // rows to hold: the query's argument
	fields  []pgconn.FieldDescription
	rows    [][][]byte
	used    bool
}

// A recorder is a lookup whose query is being recorded.
type recorder lookup

func (n *recorder) query(_ context.Context, query string, args []any, _ func(Rows) error) error {
	n.text, n.args = query, args
	return errRecorded
}

func (n *recorder) hold(_ context.Context, query string, ids []int64) error {
	n.text, n.held = query, ids
	return errRecorded
}

func (l *lookup) hold(ctx context.Context, query string, ids []int64) error {
	if l.used {
		return l.queries.hold(ctx, query, ids)
	}
	l.used = true
	return nil
}

// query replays the answer once. It sends a second query of a read to the database.
func (l *lookup) query(ctx context.Context, query string, args []any, each func(Rows) error) error {
	if l.used {
		return l.queries.query(ctx, query, args, each)
	}
	l.used = true
	return l.replay(each)
}

// record adds the row at which r is to the answer.
func (l *lookup) record(r pgx.Rows) error {
	l.add(r.FieldDescriptions(), r.RawValues())
	return nil
}

// add adds a copy of a row to the answer.
func (l *lookup) add(fields []pgconn.FieldDescription, values [][]byte) {
	if l.fields == nil {
		l.fields = slices.Clone(fields)
	}
	row := make([][]byte, len(values))
	for i, v := range values {
		if v != nil { // NULL
			row[i] = append(make([]byte, 0, len(v)), v...)
		}
	}
	l.rows = append(l.rows, row)
}

// typeMaps are for reading values. Each belongs to one goroutine at a time.
var typeMaps = sync.Pool{New: func() any { return pgtype.NewMap() }}

// replay calls each for every row of the answer.
func (l *lookup) replay(each func(Rows) error) error {
	types := typeMaps.Get().(*pgtype.Map)
	defer typeMaps.Put(types)
	for _, row := range l.rows {
		if err := each(recordedRow{l, types, row}); err != nil {
			return err
		}
	}
	return nil
}

// A recordedRow is a row of a lookup's answer.
type recordedRow struct {
	of    *lookup
	types *pgtype.Map
	row   [][]byte
}

func (r recordedRow) Scan(dest ...any) error {
	return pgx.ScanRow(r.types, r.of.fields, r.row, dest...)
}

func (r recordedRow) Columns() ([]string, error) { return fieldNames(r.of.fields), nil }

func fieldNames(fields []pgconn.FieldDescription) (names []string) {
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}
