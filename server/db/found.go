package db

import (
	"database/sql"
	"fmt"
	"reflect"

	"zombiezen.com/go/sqlite"
)

// found is a row of an answer.
type found struct{ st *sqlite.Stmt }

// Columns returns the names of the columns.
func (f found) Columns() ([]string, error) {
	out := make([]string, f.st.ColumnCount())
	for i := range out {
		out[i] = f.st.ColumnName(i)
	}
	return out, nil
}

// Scan sets what dest points to. A number of the database is not taken for a text, nor a
// text for a number.
func (f found) Scan(dest ...any) error {
	if n := f.st.ColumnCount(); n != len(dest) {
		return fmt.Errorf("%d columns for %d values", n, len(dest))
	}
	for i, d := range dest {
		if err := f.scan(i, d); err != nil {
			return fmt.Errorf("column %s: %w", f.st.ColumnName(i), err)
		}
	}
	return nil
}

func (f found) scan(i int, dest any) error {
	is := f.st.ColumnType(i)
	switch p := dest.(type) {
	case *int64:
		if is == sqlite.TypeInteger {
			*p = f.st.ColumnInt64(i)
			return nil
		}
	case *string:
		if is == sqlite.TypeText {
			*p = f.st.ColumnText(i)
			return nil
		}
	case *float64:
		if is == sqlite.TypeFloat || is == sqlite.TypeInteger {
			*p = f.st.ColumnFloat(i)
			return nil
		}
	case *any:
		*p = f.value(i, is)
		return nil
	case sql.Scanner:
		return p.Scan(f.value(i, is))
	}
	v := reflect.ValueOf(dest).Elem()
	switch kind := v.Kind(); {
	case (kind == reflect.Int || kind == reflect.Int64) && is == sqlite.TypeInteger:
		v.SetInt(f.st.ColumnInt64(i))
	case kind == reflect.String && is == sqlite.TypeText:
		v.SetString(f.st.ColumnText(i))
	default:
		return fmt.Errorf("%v for a %s", is, v.Type())
	}
	return nil
}

func (f found) value(i int, is sqlite.ColumnType) any {
	switch is {
	case sqlite.TypeInteger:
		return f.st.ColumnInt64(i)
	case sqlite.TypeFloat:
		return f.st.ColumnFloat(i)
	case sqlite.TypeText:
		return f.st.ColumnText(i)
	default:
		return nil
	}
}
