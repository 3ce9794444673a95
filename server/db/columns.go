package db

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// A Column is a column of a table with the field of a T that has its value. The type is an alias
// without a name, so that a list of columns can leave out the names of fields.
type Column[T any] = struct {
	Name string
	At   func(*T) any // returns a pointer to the field, maybe converted to one to Unix, Span, Flag, Endless or Words
}

// Columns are the columns of a table or join. They read a T from a row, and make the statements that
// store it: see Insertion and Saving.
type Columns[T any] []Column[T]

// List returns the columns to select for Scan.
func (c Columns[T]) List() string { return strings.Join(c.names(), ", ") }

func (c Columns[T]) names() []string {
	out := make([]string, len(c))
	for i, x := range c {
		out[i] = x.Name
	}
	return out
}

// Scan reads a row of List.
func (c Columns[T]) Scan(r Row) (x T, err error) {
	into := make([]any, len(c))
	for i := range c {
		into[i] = c[i].At(&x)
	}
	return x, r.Scan(into...)
}

// Named returns the columns with some names, which are separated by commas.
func (c Columns[T]) Named(names string) (out Columns[T]) {
	for _, name := range fields(names) {
		i := slices.IndexFunc(c, func(x Column[T]) bool { return x.Name == name })
		if i < 0 {
			panic(fmt.Sprintf("db: no column %q", name))
		}
		out = append(out, c[i])
	}
	return out
}

// fields returns names that are separated by commas.
func fields(names string) []string {
	return strings.FieldsFunc(names, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// Values returns the values to store for x.
func (c Columns[T]) Values(x *T) []any {
	out := make([]any, len(c), len(c)+8) // for more arguments
	for i := range c {
		out[i] = stored(c[i].At(x))
	}
	return out
}

// stored returns the value at a pointer, in a form that databases take.
func stored(at any) any {
	if w, ok := at.(driver.Valuer); ok {
		x, err := w.Value()
		if err != nil {
			panic(err) // the types of this package return no error
		}
		return x
	}
	switch v := reflect.ValueOf(at).Elem(); v.Kind() {
	case reflect.Int, reflect.Int64:
		return v.Int()
	case reflect.String:
		return v.String()
	case reflect.Float64:
		return v.Float()
	default:
		panic(fmt.Sprintf("db: column of type %s", v.Type()))
	}
}
