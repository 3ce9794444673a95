package store

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// TestColumns sees that each field of what is read has one column, and that what a column
// stores of a value is what it reads again.
func TestColumns(t *testing.T) {
	check(t, appColumns)
	check(t, appVersionColumns)
	check(t, userColumns)
	check(t, teamColumns)
	check(t, tokenColumns)
	check(t, apiBatchColumns)
	check(t, hostColumns)
	check(t, hostAppVersionColumns)
	check(t, workunitColumns)
	check(t, resultColumns, "Kind") // it is stored and not read
	check(t, candidateColumns)
	check(t, msgFromHostColumns)
}

func check[T any](t *testing.T, c columns[T], except ...string) {
	t.Helper()
	var x T
	fields := make(map[unsafe.Pointer]reflect.Value)
	of := reflect.ValueOf(&x).Elem()
	collect(of, fields)
	for _, name := range except {
		delete(fields, of.FieldByName(name).Addr().UnsafePointer())
	}
	for n, column := range c {
		at := reflect.ValueOf(column.at(&x)).UnsafePointer()
		field, ok := fields[at]
		if !ok {
			t.Errorf("%s: column %s is of no field, or of one that another column has", of.Type(), column.name)
			continue
		}
		delete(fields, at)
		set(field, n)
	}
	for _, field := range fields {
		t.Errorf("%s: a field of type %s has no column", of.Type(), field.Type())
	}
	again, err := c.scan(storedRow(c.values(&x)))
	if err != nil || !reflect.DeepEqual(again, x) {
		t.Errorf("%s: %+v became %+v, %v", of.Type(), x, again, err)
	}
}

// collect finds the fields of a struct, and of those in it.
func collect(of reflect.Value, fields map[unsafe.Pointer]reflect.Value) {
	for _, f := range of.Fields() {
		if f.Kind() == reflect.Struct && f.Type() != reflect.TypeFor[time.Time]() {
			collect(f, fields)
			continue
		}
		fields[f.Addr().UnsafePointer()] = f
	}
}

// set gives a field a value that others do not have, or hardly any.
func set(f reflect.Value, n int) {
	switch v := f.Addr().Interface().(type) {
	case *time.Time:
		*v = time.Unix(int64(n)+1, 0)
	case *time.Duration:
		*v = time.Duration(n+1) * time.Second
	case *bool:
		*v = true
	case *[]string:
		*v = []string{"a", strings.Repeat("b", n)}
	default:
		switch f.Kind() {
		case reflect.String:
			f.SetString(strings.Repeat("x", n+1))
		case reflect.Float64:
			f.SetFloat(float64(n) + 0.5)
		default:
			f.SetInt(int64(n) + 1)
		}
	}
}

// A storedRow is a row that holds what was stored.
type storedRow []any

func (v storedRow) Scan(dest ...any) error {
	for i, at := range dest {
		if s, ok := at.(interface{ Scan(any) error }); ok {
			if err := s.Scan(v[i]); err != nil {
				return err
			}
			continue
		}
		f := reflect.ValueOf(at).Elem()
		f.Set(reflect.ValueOf(v[i]).Convert(f.Type()))
	}
	return nil
}

// TestSaving sees that an UPDATE sets what moves and nothing else that is costly to set, and
// that its parameters are its arguments.
func TestSaving(t *testing.T) {
	type row struct{ id, a, b, c int64 }
	save := columns[row]{
		{"id", func(r *row) any { return &r.id }},
		{"a", func(r *row) any { return &r.a }},
		{"b", func(r *row) any { return &r.b }},
		{"c", func(r *row) any { return &r.c }},
	}.save("t", "a", "b, c", "+b, c", "h = h || ?")
	for _, tt := range []struct {
		now  row
		want string
		args []any
	}{
		{row{1, 2, 3, 4}, "UPDATE t\nSET a = $2, h = h || $3\nWHERE id = $1 AND b = +$4 AND c = $5", []any{1, 2, "x", 3, 4}},
		{row{1, 2, 3, 9}, "UPDATE t\nSET a = $2, c = $3, h = h || $4\nWHERE id = $1 AND b = +$5 AND c = $6", []any{1, 2, 9, "x", 3, 4}},
		{row{1, 7, 8, 9}, "UPDATE t\nSET a = $2, b = $3, c = $4, h = h || $5\nWHERE id = $1 AND b = +$6 AND c = $7", []any{1, 7, 8, 9, "x", 3, 4}},
	} {
		query, args := save.of(&row{1, 2, 3, 4}, &tt.now, "x")
		if query != tt.want || fmt.Sprint(args) != fmt.Sprint(tt.args) {
			t.Errorf("%+v: %s with %v, want %s with %v", tt.now, query, args, tt.want, tt.args)
		}
	}
}
