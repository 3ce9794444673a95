package db

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"strings"
)

// must is a function that ends a transaction if a change has affected more or fewer rows than it must. The
// server checks that, and not this process, because the COMMIT may be in the same message as the change.
const must = `
CREATE OR REPLACE FUNCTION must_affect(rows BIGINT, wanted BIGINT) RETURNS void LANGUAGE plpgsql AS $$
BEGIN IF rows <> wanted THEN RAISE EXCEPTION 'a change of % rows affected %', wanted, rows; END IF; END$$`

// affecting is a change that must affect a number of rows.
const affecting = "WITH changed AS (%s RETURNING 1) SELECT must_affect(count(*), %s) FROM changed"

// newID returns the id of a new row. A name that is taken must not be an error, which would end the transaction.
const newID = " ON CONFLICT DO NOTHING RETURNING id"

// forms are a statement's texts for PostgreSQL.
type forms struct {
	one, sure, id          string // for one row: as it is, failing unless it affects a row, returning the id of a new row
	each, eachSure, eachID string // for many rows, which come as one array for each parameter. eachSure gets their number, too
}

// postgres returns a statement's texts. args are an example of its arguments, whose types are always the same.
func (s *Statement) postgres(args []any) *forms {
	s.once.Do(func() {
		one := dialect.Replace(s.text)
		s.forms = forms{
			one:  one,
			sure: fmt.Sprintf(affecting, one, "1"),
			id:   one + newID,
		}
		if s.many != nil && len(args) > 0 {
			s.forms.each = s.many(unnest(args), len(args))
			s.forms.eachID = s.forms.each + newID
			s.forms.eachSure = fmt.Sprintf(affecting, s.forms.each, fmt.Sprintf("$%d::bigint", len(args)+1))
		}
	})
	return &s.forms
}

// unnest returns the rows of arguments of arrays, in columns p1, p2 and so on.
func unnest(args []any) string {
	arrays, names := make([]string, len(args)), make([]string, len(args))
	for i, a := range args {
		arrays[i], names[i] = fmt.Sprintf("$%d::%s[]", i+1, sqlType(plain(a))), fmt.Sprintf("p%d", i+1)
	}
	return fmt.Sprintf("unnest(%s) a(%s)", strings.Join(arrays, ", "), strings.Join(names, ", "))
}

// transposed turns rows of arguments into an array for each parameter.
func transposed(list [][]any) []any {
	out := make([]any, len(list[0]))
	for i := range out {
		switch plain(list[0][i]).(type) {
		case int64:
			out[i] = across[int64](list, i)
		case float64:
			out[i] = across[float64](list, i)
		default:
			out[i] = across[string](list, i)
		}
	}
	return out
}

func across[T any](list [][]any, i int) []T {
	out := make([]T, len(list))
	for j, args := range list {
		out[j] = clean([]any{plain(args[i])})[0].(T)
	}
	return out
}

func sqlType(a any) string {
	switch a.(type) {
	case int64:
		return "bigint"
	case float64:
		return "double precision"
	}
	return "text"
}

// plain returns an argument as one of a database's types: int64, float64 or string.
func plain(a any) any {
	switch v := a.(type) {
	case int64, float64, string:
		return a
	case driver.Valuer:
		x, err := v.Value()
		if err != nil {
			panic(err) // the types of this package return no error
		}
		return plain(x)
	}
	switch v := reflect.ValueOf(a); v.Kind() {
	case reflect.Int, reflect.Int64, reflect.Int32:
		return v.Int()
	case reflect.String:
		return v.String()
	default:
		panic(fmt.Sprintf("db: argument of type %T", a))
	}
}
