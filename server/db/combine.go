package db

import (
	"cmp"
	"slices"

	"github.com/jackc/pgx/v5"
)

// combine returns requests for all lookups, one for those with the same query. Requests that hold
// rows are first.
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
		if same := byText[text]; same[0].held != nil {
			var ids []int64
			for _, l := range same {
				ids = append(ids, l.held...)
			}
			list = append(list, request{p.prepare(text), []any{JSONList(ids)}, ignore})
		}
	}
	for _, text := range texts {
		same := byText[text]
		l, q := same[0], p.prepare(text)
		switch {
		case l.held != nil:
		case len(same) > 1 && len(l.args) == 0:
			list = append(list, request{q, nil, func(r pgx.Rows) error {
				err := l.record(r)
				for _, other := range same[1:] {
					other.fields, other.rows = l.fields, l.rows
				}
				return err
			}})
		case len(same) > 1:
			slices.SortStableFunc(same, byFirst) // in one order, so that transactions that lock rows do not deadlock
			rows := make([][]any, len(same))
			for i, l := range same {
				rows[i] = l.args
			}
			list = append(list, request{p.prepareMany(text, l.args), transposed(rows), func(r pgx.Rows) error {
				return distribute(r, same)
			}})
		default:
			list = append(list, request{q, clean(l.args), l.record})
		}
	}
	return list
}

// byFirst compares lookups by their first argument, if that is a number.
func byFirst(a, b *lookup) int {
	x, ok := plain(a.args[0]).(int64)
	y, _ := plain(b.args[0]).(int64)
	if !ok {
		return 0
	}
	return cmp.Compare(x, y)
}

// distribute gives a row to one of several lookups, whose number is the first column.
func distribute(r pgx.Rows, to []*lookup) error {
	values := r.RawValues()
	var n int64
	if err := pgx.ScanRow(r.Conn().TypeMap(), r.FieldDescriptions()[:1], values[:1], &n); err != nil {
		return err
	}
	to[n-1].add(r.FieldDescriptions()[1:], values[1:])
	return nil
}
