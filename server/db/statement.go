package db

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
)

// parameters numbers the parameters of a statement in the order in which they are written.
type parameters int

func (p *parameters) next() string {
	*p++
	return fmt.Sprintf("$%d", int(*p))
}

// number replaces each ? of a text by a parameter.
func (p *parameters) number(text string) string {
	for strings.Contains(text, "?") {
		text = strings.Replace(text, "?", p.next(), 1)
	}
	return text
}

// An Insertion is the INSERT of a T.
type Insertion[T any] struct {
	Query   string
	columns Columns[T]
}

// InsertInto makes the INSERT with values for some columns of c, and for more, which c does not
// have.
func (c Columns[T]) InsertInto(table, names string, more ...string) Insertion[T] {
	in := Insertion[T]{columns: c.Named(names)}
	var p parameters
	list := append(in.columns.names(), more...)
	values := make([]string, len(list))
	for i := range values {
		values[i] = p.next()
	}
	in.Query = fmt.Sprintf("INSERT INTO %s (%s)\nVALUES (%s)", table, strings.Join(list, ", "), strings.Join(values, ", "))
	return in
}

// Replace makes the INSERT of a row with all columns, which replaces a row with the same keys. The
// keys are the first columns.
func (c Columns[T]) Replace(table string, keys int) Insertion[T] {
	in := c.InsertInto(table, c.List())
	set := c[keys:].names()
	for i, name := range set {
		set[i] = name + " = excluded." + name
	}
	in.Query += fmt.Sprintf("\nON CONFLICT (%s) DO UPDATE\nSET %s", c[:keys].List(), strings.Join(set, ", "))
	return in
}

// Args returns the arguments that add x, with values for the columns that it does not have.
func (in Insertion[T]) Args(x *T, more ...any) []any { return append(in.columns.Values(x), more...) }

// A Saving is the UPDATE of a row by its id. It is safe for concurrent use.
type Saving[T any] struct {
	table                 string
	id, set, moving, same Columns[T]
	conditions            []string  // of same, with a ? for each parameter
	more                  []string  // as given
	texts                 *sync.Map // of the UPDATE, by which of moving it sets
}

// Save makes the UPDATE that sets some columns of c, on the condition that others are still as
// they were. Of these, a name with a plus sign before it has one before its parameter, so that SQLite does
// not prepare the statement again for each value. Columns in moving are set only if they change: they have
// indexes, checks and triggers, which take longer than all the rest of the row, whether the value is new
// or not. more are further assignments, with a ? for each parameter.
func (c Columns[T]) Save(table, set, moving, same string, more ...string) Saving[T] {
	s := Saving[T]{table: table, id: c.Named("id"), set: c.Named(set), moving: c.Named(moving), more: more, texts: new(sync.Map)}
	for name := range strings.FieldsFuncSeq(same, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		name, plus := strings.CutPrefix(name, "+")
		s.same = append(s.same, c.Named(name)...)
		if plus {
			s.conditions = append(s.conditions, name+" = +?")
		} else {
			s.conditions = append(s.conditions, name+" = ?")
		}
	}
	return s
}

// Of returns the UPDATE that changes old to now, and its arguments with those of the further
// assignments. The text depends only on the columns that change.
func (s Saving[T]) Of(old, now *T, more ...any) (query string, args []any) {
	args = append(s.id.Values(old), s.set.Values(now)...)
	var moved uint64
	for i, c := range s.moving {
		if was, is := stored(c.At(old)), stored(c.At(now)); was != is {
			moved |= 1 << i
			args = append(args, is)
		}
	}
	args = append(append(args, more...), s.same.Values(old)...)
	return s.text(moved), args
}

func (s Saving[T]) text(moved uint64) string {
	if text, ok := s.texts.Load(moved); ok {
		return text.(string)
	}
	var assign []string
	for _, c := range s.set {
		assign = append(assign, c.Name+" = ?")
	}
	for i, c := range s.moving {
		if moved&(1<<i) != 0 {
			assign = append(assign, c.Name+" = ?")
		}
	}
	assign = append(assign, s.more...)
	var p parameters
	id := "id = " + p.next()
	set := p.number(strings.Join(assign, ", "))
	where := strings.Join(append([]string{id}, s.conditions...), " AND ")
	text := fmt.Sprintf("UPDATE %s\nSET %s\nWHERE %s", s.table, set, p.number(where))
	s.texts.Store(moved, text)
	return text
}
