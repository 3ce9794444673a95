package db

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Columns are the columns of a table or join, each with the field of a T that has its value. They read a T
// from a row, and make the statements that store it: see Insertion and Saving.
type Columns[T any] []column

type column struct {
	name    string
	index   []int // of the field
	endless bool
}

// ColumnsOf returns the columns of the fields of a T, in their order. The tag db of a field is the name of its
// column, or for a field that is a struct, the beginning of the names of its columns. All fields are exported.
// It panics for a field without a tag, a column of two fields, and a field that cannot be stored.
//
// A time.Time is stored as a Unix, a time.Duration as a Span, a bool as a Flag, a []string as Words, and a
// float64 as an Endless if its tag ends with ",endless". Other fields are numbers or texts.
func ColumnsOf[T any]() Columns[T] {
	columns := Columns[T](columnsOf(reflect.TypeFor[T](), "", nil))
	names := columns.names()
	slices.Sort(names)
	if len(slices.Compact(names)) < len(columns) {
		panic(fmt.Sprintf("db: two fields of %s have one column", reflect.TypeFor[T]()))
	}
	columns.Values(new(T)) // fails for fields that cannot be stored
	return columns
}

func columnsOf(t reflect.Type, prefix string, index []int) (out []column) {
	for f := range t.Fields() {
		tag, ok := f.Tag.Lookup("db")
		if !ok {
			panic(fmt.Sprintf("db: field %s of %s has no column", f.Name, t))
		}
		name, endless := strings.CutSuffix(prefix+tag, ",endless")
		at := append(slices.Clone(index), f.Index...)
		if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[time.Time]() {
			out = append(out, columnsOf(f.Type, name, at)...)
			continue
		}
		out = append(out, column{name, at, endless})
	}
	return out
}

// at returns a pointer to the column's field of x in the type as which it is stored.
func (c column) at(x reflect.Value) any {
	field := x.FieldByIndex(c.index).Addr().Interface()
	switch p := field.(type) {
	case *time.Time:
		return (*Unix)(p)
	case *time.Duration:
		return (*Span)(p)
	case *bool:
		return (*Flag)(p)
	case *[]string:
		return (*Words)(p)
	case *float64:
		if c.endless {
			return (*Endless)(p)
		}
	}
	return field
}

// List returns the columns to select for Scan.
func (c Columns[T]) List() string { return strings.Join(c.names(), ", ") }

func (c Columns[T]) names() []string {
	out := make([]string, len(c))
	for i, x := range c {
		out[i] = x.name
	}
	return out
}

// Scan reads a row of List.
func (c Columns[T]) Scan(r Row) (x T, err error) {
	into := make([]any, len(c))
	of := reflect.ValueOf(&x).Elem()
	for i := range c {
		into[i] = c[i].at(of)
	}
	return x, r.Scan(into...)
}

// Named returns the columns with some names, which are separated by commas.
func (c Columns[T]) Named(names string) (out Columns[T]) {
	for _, name := range fields(names) {
		i := slices.IndexFunc(c, func(x column) bool { return x.name == name })
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
	of := reflect.ValueOf(x).Elem()
	for i := range c {
		out[i] = stored(c[i].at(of))
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
