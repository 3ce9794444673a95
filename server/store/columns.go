package store

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// A column is one of a table, and where its value is in a T.
type column[T any] struct {
	name string
	at   func(*T) any // a pointer to it, maybe as one to unix, span, flag, endless or spaced
}

// columns say of the columns of a table, or of a join, where in a T their values are. What
// reads a T goes by them, and so does what stores one: see insertion and saving.
type columns[T any] []column[T]

// list is what to select, for scan.
func (c columns[T]) list() string { return strings.Join(c.names(), ", ") }

func (c columns[T]) names() []string {
	out := make([]string, len(c))
	for i, x := range c {
		out[i] = x.name
	}
	return out
}

// scan reads a row of list.
func (c columns[T]) scan(r row) (x T, err error) {
	into := make([]any, len(c))
	for i := range c {
		into[i] = c[i].at(&x)
	}
	return x, r.Scan(into...)
}

// named are the columns with names, which have commas between them.
func (c columns[T]) named(names string) (out columns[T]) {
	for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		i := slices.IndexFunc(c, func(x column[T]) bool { return x.name == name })
		if i < 0 {
			panic(fmt.Sprintf("store: no column %q", name))
		}
		out = append(out, c[i])
	}
	return out
}

// values are what is stored of x.
func (c columns[T]) values(x *T) []any {
	out := make([]any, len(c), len(c)+8) // for more arguments
	for i := range c {
		out[i] = stored(c[i].at(x))
	}
	return out
}

// stored returns what at points to, as databases take it.
func stored(at any) any {
	if w, ok := at.(driver.Valuer); ok {
		x, err := w.Value()
		if err != nil {
			panic(err) // those of this package have none
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
		panic(fmt.Sprintf("store: column of type %s", v.Type()))
	}
}
