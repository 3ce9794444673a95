package db

import (
	"database/sql"
	"fmt"
	"reflect"

	"zombiezen.com/go/sqlite"
)

// A sqliteRow is a row of an answer.
type sqliteRow struct{ st *sqlite.Stmt }

// Columns returns the names of the columns.
func (r sqliteRow) Columns() ([]string, error) {
	out := make([]string, r.st.ColumnCount())
	for i := range out {
		out[i] = r.st.ColumnName(i)
	}
	return out, nil
}

// Scan sets the variables to which dest points. It converts no number to a text, and no
// text to a number.
func (r sqliteRow) Scan(dest ...any) error {
	if n := r.st.ColumnCount(); n != len(dest) {
		return fmt.Errorf("%d columns for %d values", n, len(dest))
	}
	for i, d := range dest {
		if err := r.scan(i, d); err != nil {
			return fmt.Errorf("column %s: %w", r.st.ColumnName(i), err)
		}
	}
	return nil
}

func (r sqliteRow) scan(i int, dest any) error {
	is := r.st.ColumnType(i)
	switch p := dest.(type) {
	case *int64:
		if is == sqlite.TypeInteger {
			*p = r.st.ColumnInt64(i)
			return nil
		}
	case *string:
		if is == sqlite.TypeText {
			*p = r.st.ColumnText(i)
			return nil
		}
	case *float64:
		if is == sqlite.TypeFloat || is == sqlite.TypeInteger {
			*p = r.st.ColumnFloat(i)
			return nil
		}
	case *any:
		*p = r.value(i, is)
		return nil
	case sql.Scanner:
		return p.Scan(r.value(i, is))
	}
	v := reflect.ValueOf(dest).Elem()
	switch kind := v.Kind(); {
	case (kind == reflect.Int || kind == reflect.Int64) && is == sqlite.TypeInteger:
		v.SetInt(r.st.ColumnInt64(i))
	case kind == reflect.String && is == sqlite.TypeText:
		v.SetString(r.st.ColumnText(i))
	default:
		return fmt.Errorf("%v for a %s", is, v.Type())
	}
	return nil
}

func (r sqliteRow) value(i int, is sqlite.ColumnType) any {
	switch is {
	case sqlite.TypeInteger:
		return r.st.ColumnInt64(i)
	case sqlite.TypeFloat:
		return r.st.ColumnFloat(i)
	case sqlite.TypeText:
		return r.st.ColumnText(i)
	default:
		return nil
	}
}
