package console

import (
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/store"
)

// A sheet is all that is known of one row: single values, texts of several lines, and tables.
type sheet struct {
	Fields []entry
	Texts  []entry
	Tables []table
}

type entry struct{ Name, Text, Link string }

type table struct {
	Name    string
	Columns []string
	Rows    [][]entry
}

func (c *Console) sheet(w http.ResponseWriter, r *http.Request, kind view.Kind) {
	id := r.PathValue("id")
	var v any
	err := c.project.Store.View(r.Context(), func(tx *store.Tx) (err error) {
		switch kind {
		case view.OfWork:
			v, err = view.WorkunitBy(tx, id)
		case view.OfResult:
			v, err = view.ResultBy(tx, id)
		case view.OfHost:
			v, err = view.HostBy(tx, id, c.project.Config.ProcessorOf, time.Now())
		case view.OfUser:
			v, err = view.UserBy(tx, id, time.Now())
		case view.OfBatch:
			n, _ := strconv.ParseInt(id, 10, 64)
			v, err = tx.BatchStatus(n)
		}
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		c.show(w, http.StatusNotFound, "closed.html", map[string]any{
			"Title": "Not found", "Error": "There is no " + nouns[kind] + " " + id + ". If there was one, it was purged.", "In": true,
		})
		return
	case err != nil:
		c.fail(w, err)
		return
	}
	s := lay(v)
	noun := nouns[kind]
	c.show(w, http.StatusOK, "sheet.html", map[string]any{
		"Title": strings.ToUpper(noun[:1]) + noun[1:] + " " + id, "Here": here[kind], "Sheet": s, "ID": s.id(id), "Kind": kind,
		"Actions": actionsOf(string(kind)), "Said": c.done(r.URL.Query()),
	})
}

// nouns are what people call rows, here the list that each kind is in.
var (
	nouns = map[view.Kind]string{view.OfWork: "workunit", view.OfResult: "result", view.OfBatch: "batch", view.OfHost: "computer", view.OfUser: "account"}
	here  = map[view.Kind]string{view.OfWork: "works", view.OfResult: "results", view.OfBatch: "batches", view.OfHost: "hosts", view.OfUser: "users"}
)

// id is the row's number, whatever it was asked for by.
func (s *sheet) id(asked string) string {
	for _, f := range s.Fields {
		if f.Name == "id" {
			return f.Text
		}
	}
	return asked
}

// lay lays a view's fields out by their names in JSON: one place says what is known of a row,
// and in what order.
func lay(v any) *sheet {
	s := &sheet{}
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

// add adds a single value. column says of what it is the number.
func (s *sheet) add(name, column string, v reflect.Value) {
	text := plain(v)
	e := entry{Name: name, Text: text, Link: leads(column, v)}
	if strings.Contains(text, "\n") {
		s.Texts = append(s.Texts, e)
		return
	}
	e.Text = view.Cell(text)
	s.Fields = append(s.Fields, e)
}

// tabulate makes a table of rows, with the columns in which one of them has something.
func tabulate(name string, rows reflect.Value) table {
	t := table{Name: name}
	var all [][]entry
	used := make(map[int]bool)
	for i := range rows.Len() {
		var row []entry
		each(rows.Index(i), func(column string, v reflect.Value) {
			e := entry{Name: column, Text: plain(v), Link: leads(column, v)}
			if column == "id" && name == "results" && v.CanInt() {
				e.Link = link(view.OfResult, v.Int())
			}
			if column == "id" && name == "computers" && v.CanInt() {
				e.Link = link(view.OfHost, v.Int())
			}
			if e.Text != "" && e.Text != "0" {
				used[len(row)] = true
			}
			row = append(row, e)
		})
		all = append(all, row)
	}
	for i, row := range all {
		var kept []entry
		for k, e := range row {
			if !used[k] {
				continue
			}
			if i == 0 {
				t.Columns = append(t.Columns, e.Name)
			}
			e.Text = view.Cell(e.Text)
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

// leads is where a number of this name leads.
func leads(column string, v reflect.Value) string {
	kind, ok := map[string]view.Kind{
		"workunitid": view.OfWork, "predecessor": view.OfWork, "canonical resultid": view.OfResult,
		"hostid": view.OfHost, "host id": view.OfHost, "userid": view.OfUser, "batch": view.OfBatch,
	}[column]
	if !ok || !v.CanInt() {
		return ""
	}
	return link(kind, v.Int())
}

// plain writes a value.
func plain(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Time:
		if x.IsZero() {
			return ""
		}
		return x.UTC().Format("2006-01-02 15:04:05")
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
		return "" // lists within lists are on the pages of their own
	}
	return v.String()
}
