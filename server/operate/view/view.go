// Package view is the operators' view of a project: lists, and all details of one row. Commands
// print it as tables and JSON, the operator's pages show it as HTML. Keys, passwords and tokens are
// never part of it.
package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// A Listing is a kind of list: its columns, its filters, and the function that reads it.
type Listing struct {
	Short, Long string // the content of the list, for help
	None        string // shown for an empty list
	Columns     []Column
	Filters     []Filter
	find        func(tx *store.View, q Query, now time.Time) (List, error)
}

// A Column has a name, and where its cells name rows of another kind, that.
type Column struct {
	Name string
	Of   Kind // "": none
}

// A Kind is one of the kinds of rows that can be shown one by one.
type Kind string

// The kinds of rows. Their names are the names of the commands that show them.
const (
	OfWork   Kind = "work"
	OfResult Kind = "result"
	OfBatch  Kind = "batch"
	OfHost   Kind = "host"
	OfUser   Kind = "user"
)

// A List is the content that a Listing finds.
type List struct {
	Rows [][]any // of cells, as many as columns (see Cell)
	Of   any     // the same with all that is known, for JSON: a slice, never nil
	// Older is the value of the filter "below" that finds older rows, if there may be any, else 0.
	Older int64
}

// Find reads the list. An error because of the query is a FilterError or of a name that is not
// there.
func (l *Listing) Find(tx *store.View, q Query, now time.Time) (List, error) {
	for name := range q {
		if l.filter(name) == nil {
			return List{}, &FilterError{name, "is not something to filter by"}
		}
	}
	q = l.complete(q)
	return l.find(tx, q, now)
}

func (l *Listing) filter(name string) *Filter {
	for i := range l.Filters {
		if l.Filters[i].Name == name {
			return &l.Filters[i]
		}
	}
	return nil
}

// complete adds defaults.
func (l *Listing) complete(q Query) Query {
	out := make(Query)
	for _, f := range l.Filters {
		if v, ok := q[f.Name]; ok {
			out[f.Name] = v
		} else if f.Default != "" {
			out[f.Name] = f.Default
		}
	}
	return out
}

// Cell formats a value so that each column of a line has some text, and no text breaks the line or
// controls a terminal, since names are written by volunteers.
func Cell(v any) string {
	var s string
	switch v := v.(type) {
	case time.Time:
		if !v.IsZero() {
			s = v.UTC().Format("2006-01-02 15:04")
		}
	case float64:
		s = fmt.Sprintf("%.2f", v)
	default:
		s = fmt.Sprint(v)
	}
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 {
			return '?'
		}
		return c
	}, s)
	if s == "" {
		return "-"
	}
	return s
}

// number0 shows a number, and nothing for 0.
func number0(n int64) any {
	if n == 0 {
		return ""
	}
	return n
}

// UTC returns a time in UTC, so that it reads the same everywhere. The zero time is unchanged.
func UTC(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC()
}

// VersionNumber writes a version's number: 1.02.
func VersionNumber(n int64) string { return fmt.Sprintf("%d.%02d", n/100, n%100) }

// versionName writes a version's number, and its plan class if it has one.
func versionName(number int64, planClass string) string {
	name := VersionNumber(number)
	if planClass != "" {
		name += " (" + planClass + ")"
	}
	return name
}

// catalog names applications and versions.
type catalog struct {
	apps     map[int64]string
	versions map[int64]store.AppVersion
}

func readCatalog(tx *store.View) (c catalog, err error) {
	c = catalog{make(map[int64]string), make(map[int64]store.AppVersion)}
	apps, err := tx.Apps()
	if err != nil {
		return c, err
	}
	for _, a := range apps {
		c.apps[a.ID] = a.Name
	}
	versions, err := tx.AllAppVersions()
	for _, v := range versions {
		c.versions[v.ID] = v
	}
	return c, err
}
