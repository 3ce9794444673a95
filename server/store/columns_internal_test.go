package store

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// TestColumns checks that each field has one column, and that a stored value is read back
// unchanged.
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
	check(t, awaitedOutputColumns)
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
		at := reflect.ValueOf(column.At(&x)).UnsafePointer()
		field, ok := fields[at]
		if !ok {
			t.Errorf("%s: column %s is of no field, or of one that another column has", of.Type(), column.Name)
			continue
		}
		delete(fields, at)
		set(field, n)
	}
	for _, field := range fields {
		t.Errorf("%s: a field of type %s has no column", of.Type(), field.Type())
	}
	again, err := c.Scan(storedRow(c.Values(&x)))
	if err != nil || !reflect.DeepEqual(again, x) {
		t.Errorf("%s: %+v became %+v, %v", of.Type(), x, again, err)
	}
}

// collect finds the fields of a struct and of the structs in it.
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

// A storedRow is a row of stored values.
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
