package view

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Sheet is all that is known of one row: single values, texts of several lines, and tables.
type Sheet struct {
	Fields []Entry
	Texts  []Entry
	Tables []Table
}

// An Entry is a value with its name. If it is the number of a row, ID is that number and Of is the
// kind of the row.
type Entry struct {
	Name, Text string
	Of         Kind
	ID         int64
}

// A Table is rows of one kind, which have all Columns.
type Table struct {
	Name    string
	Columns []string
	Rows    [][]Entry
}

// Number returns the row's ID. ok is false if it has no ID.
func (s *Sheet) Number() (id string, ok bool) {
	for _, f := range s.Fields {
		if f.Name == "id" {
			return f.Text, true
		}
	}
	return "", false
}

// Lay lays out the fields of the value of WorkunitBy, ResultBy, HostBy or UserBy by their names in
// JSON. So one place defines the fields of a row, and their order.
func Lay(v any) *Sheet {
	s := &Sheet{}
	each(reflect.Indirect(reflect.ValueOf(v)), func(name string, v reflect.Value) {
		v = reflect.Indirect(v)
		switch {
		case !v.IsValid():
		case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
			if v.Len() > 0 {
				s.Tables = append(s.Tables, tabulate(name, v))
			}
		case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
			each(v, func(inner string, v reflect.Value) { s.add(name+" "+inner, "", v) })
		default:
			s.add(name, name, v)
		}
	})
	return s
}

// add adds a single value. column is the kind of row that it is the number of.
func (s *Sheet) add(name, column string, v reflect.Value) {
	text := plain(v)
	e := Entry{Name: name, Text: text}
	e.Of, e.ID = leads(column, v)
	if strings.Contains(text, "\n") {
		s.Texts = append(s.Texts, e)
		return
	}
	e.Text = Cell(text)
	s.Fields = append(s.Fields, e)
}

// tabulate makes a table of rows, with the columns in which one of them has something.
func tabulate(name string, rows reflect.Value) Table {
	t := Table{Name: name}
	var all [][]Entry
	used := make(map[int]bool)
	for i := range rows.Len() {
		var row []Entry
		each(rows.Index(i), func(column string, v reflect.Value) {
			e := Entry{Name: column, Text: plain(v)}
			if e.Of, e.ID = leads(column, v); column == "id" {
				e.Of, e.ID = leads(name, v)
			}
			if e.Text != "" && e.Text != "0" {
				used[len(row)] = true
			}
			row = append(row, e)
		})
		all = append(all, row)
	}
	for i, row := range all {
		var kept []Entry
		for k, e := range row {
			if !used[k] {
				continue
			}
			if i == 0 {
				t.Columns = append(t.Columns, e.Name)
			}
			e.Text = Cell(e.Text)
			kept = append(kept, e)
		}
		t.Rows = append(t.Rows, kept)
	}
	return t
}

// each calls f with the fields of a struct and, as in JSON, of those it embeds.
func each(v reflect.Value, f func(name string, v reflect.Value)) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous:
			each(v.Field(i), f)
		case name != "" && name != "-":
			f(strings.ReplaceAll(name, "_", " "), v.Field(i))
		}
	}
}

// leads returns the row with the number v. v is in a column of this name, or is the ID of a row in
// a table of this name.
func leads(name string, v reflect.Value) (of Kind, id int64) {
	kind, ok := map[string]Kind{
		"results": OfResult, "computers": OfHost,
		"workunitid": OfWork, "predecessor": OfWork, "canonical resultid": OfResult,
		"hostid": OfHost, "host id": OfHost, "userid": OfUser, "batch": OfBatch,
	}[name]
	if !ok || !v.CanInt() {
		return "", 0
	}
	return kind, v.Int()
}

// plain writes a value.
func plain(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Time:
		if x.IsZero() {
			return ""
		}
		return x.UTC().Format("2006-01-02 15:04:05 UTC")
	case float64:
		return strconv.FormatFloat(x, 'g', 6, 64)
	case string:
		return x
	case bool:
		if x {
			return "yes"
		}
		return "no"
	case []string:
		return strings.Join(x, ", ")
	case map[string]int64:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(x)) {
			parts = append(parts, strings.ReplaceAll(k, "_", " ")+": "+strconv.FormatInt(x[k], 10))
		}
		return strings.Join(parts, ", ")
	}
	if v.CanInt() {
		return strconv.FormatInt(v.Int(), 10)
	}
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Struct || v.Kind() == reflect.Pointer {
		return "" // lists within lists have separate pages
	}
	return v.String()
}
