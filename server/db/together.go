package db

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// together runs each read until it asks a query, asks all queries at once, and lets each read continue with its
// answer.
func together(t *View, reads []func() error, ask func(list []*lookup) error) (err error) {
	if len(reads) < 2 {
		return oneByOne(reads)
	}
	q := t.q
	defer func() { t.q = q }()
	var asked []*lookup
	var waiting []func() error // the reads that asked
	for _, read := range reads {
		x := &suspended{queries: q}
		var failed error
		next, stop := iter.Pull(func(yield func(*lookup) bool) {
			x.yield = yield
			failed = read()
		})
		defer stop()
		resume := func() (*lookup, error) {
			t.q = x
			l, _ := next()
			return l, failed
		}
		l, err := resume()
		switch {
		case err != nil:
			return err
		case l != nil:
			asked = append(asked, l)
			waiting = append(waiting, func() error { _, err := resume(); return err })
		}
	}
	if len(asked) > 0 {
		if err := ask(asked); err != nil {
			return err
		}
	}
	return oneByOne(waiting)
}

func oneByOne(reads []func() error) error {
	for _, read := range reads {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// suspended is for a read that waits, with its first query, until other reads ask. Its further queries do not wait.
type suspended struct {
	queries // of the transaction
	yield   func(*lookup) bool
}

var errGivenUp = errors.New("another read has failed")

func (x *suspended) query(ctx context.Context, query string, args []any, each func(Rows) error) error {
	yield := x.yield
	if yield == nil {
		return x.queries.query(ctx, query, args, each)
	}
	x.yield = nil
	l := &lookup{text: query, args: args, each: each}
	if !yield(l) {
		return errGivenUp
	}
	return l.err
}

// A lookup is a query that is asked together with others.
type lookup struct {
	text string
	args []any
	each func(Rows) error
	err  error // the first of each
}

// take is called for each row of the answer, while the goroutine that asked waits.
func (l *lookup) take(r Rows) {
	defer func() {
		if p := recover(); p != nil {
			l.err = fmt.Errorf("panic in a query: %v", p)
		}
	}()
	if l.err == nil {
		l.err = l.each(r)
	}
}

// combine returns requests for all lookups, one for those with the same query.
func (p *postgres) combine(asked []*lookup) (list []request) {
	byText := make(map[string][]*lookup)
	var texts []string // in order
	for _, l := range asked {
		if byText[l.text] == nil {
			texts = append(texts, l.text)
		}
		byText[l.text] = append(byText[l.text], l)
	}
	for _, text := range texts {
		same := byText[text]
		args := same[0].args
		if len(same) == 1 || len(args) == 0 {
			list = append(list, request{p.prepare(text), clean(args), func(r pgx.Rows) error {
				for _, l := range same {
					l.take(pgRows{r})
				}
				return nil
			}})
			continue
		}
		rows := make([][]any, len(same))
		for i, l := range same {
			rows[i] = l.args
		}
		list = append(list, request{p.prepareMany(text, args), transposed(rows), func(r pgx.Rows) error {
			var n int64 // the number of the lookup
			if err := pgx.ScanRow(r.Conn().TypeMap(), r.FieldDescriptions()[:1], r.RawValues()[:1], &n); err != nil {
				return err
			}
			same[n-1].take(numbered{r})
			return nil
		}})
	}
	return list
}

type pgRows struct{ pgx.Rows }

func (r pgRows) Columns() ([]string, error) { return fieldNames(r.FieldDescriptions()), nil }

// numbered is a row whose first column belongs to combine.
type numbered struct{ pgx.Rows }

func (r numbered) Columns() ([]string, error) { return fieldNames(r.FieldDescriptions()[1:]), nil }

func (r numbered) Scan(dest ...any) error {
	return pgx.ScanRow(r.Conn().TypeMap(), r.FieldDescriptions()[1:], r.RawValues()[1:], dest...)
}

func fieldNames(fields []pgconn.FieldDescription) (names []string) {
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}
