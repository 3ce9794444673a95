package db

import (
	"cmp"
	"slices"

	"github.com/jackc/pgx/v5"
)

// questions are queries for all that is asked: one for all who ask the same. Rows are held
// first.
func (p *postgres) questions(asked []*answer) (list []question) {
	alike := make(map[string][]*answer)
	var texts []string // in order
	for _, a := range asked {
		if alike[a.text] == nil {
			texts = append(texts, a.text)
		}
		alike[a.text] = append(alike[a.text], a)
	}
	for _, text := range texts {
		if same := alike[text]; same[0].held != nil {
			var ids []int64
			for _, a := range same {
				ids = append(ids, a.held...)
			}
			list = append(list, question{p.prepare(text).query, []any{JSONList(ids)}, func(pgx.Rows) error { return nil }})
		}
	}
	for _, text := range texts {
		same := alike[text]
		a, q := same[0], p.prepare(text).query
		switch {
		case a.held != nil:
		case len(same) > 1 && len(a.args) == 0:
			list = append(list, question{q, nil, func(r pgx.Rows) error {
				err := a.keep(r)
				for _, other := range same[1:] {
					other.fields, other.rows = a.fields, a.rows
				}
				return err
			}})
		case len(same) > 1 && uniform(a.args):
			slices.SortStableFunc(same, first) // so that those who lock rows do not wait for each other in a circle
			rows := make([][]any, len(same))
			for i, a := range same {
				rows[i] = a.args
			}
			list = append(list, question{p.prepareMany(text, a.args), transposed(rows), func(r pgx.Rows) error {
				return deal(r, same)
			}})
		default:
			for _, a := range same {
				list = append(list, question{q, clean(a.args), a.keep})
			}
		}
	}
	return list
}

// first compares queries by their first argument, if that is a number.
func first(a, b *answer) int {
	x, ok := plain(a.args[0]).(int64)
	y, _ := plain(b.args[0]).(int64)
	if !ok {
		return 0
	}
	return cmp.Compare(x, y)
}

// deal gives a row to whom of those it is for, which its first column says.
func deal(r pgx.Rows, to []*answer) error {
	values := r.RawValues()
	var n int64
	if err := pgx.ScanRow(r.Conn().TypeMap(), r.FieldDescriptions()[:1], values[:1], &n); err != nil {
		return err
	}
	a := to[n-1]
	if a.fields == nil {
		a.fields = slices.Clone(r.FieldDescriptions()[1:])
	}
	a.rows = append(a.rows, copied(values[1:]))
	return nil
}
