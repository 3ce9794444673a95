package store

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

// An insertion is the INSERT of a T.
type insertion[T any] struct {
	query   string
	columns columns[T]
}

// insertInto makes the INSERT with values for some columns of c, and for more, which c does not
// have.
func (c columns[T]) insertInto(table, names string, more ...string) insertion[T] {
	in := insertion[T]{columns: c.named(names)}
	var p parameters
	list := append(in.columns.names(), more...)
	values := make([]string, len(list))
	for i := range values {
		values[i] = p.next()
	}
	in.query = fmt.Sprintf("INSERT INTO %s (%s)\nVALUES (%s)", table, strings.Join(list, ", "), strings.Join(values, ", "))
	return in
}

// replace makes the INSERT of a row with all columns, which takes the place of what is there
// with the same keys. Those are the first columns.
func (c columns[T]) replace(table string, keys int) insertion[T] {
	in := c.insertInto(table, c.list())
	set := c[keys:].names()
	for i, name := range set {
		set[i] = name + " = excluded." + name
	}
	in.query += fmt.Sprintf("\nON CONFLICT (%s) DO UPDATE\nSET %s", c[:keys].list(), strings.Join(set, ", "))
	return in
}

// args are the arguments that add x, with values for the columns that it does not have.
func (in insertion[T]) args(x *T, more ...any) []any { return append(in.columns.values(x), more...) }

// A saving is the UPDATE of a row by its id. It is safe for concurrent use.
type saving[T any] struct {
	table                 string
	id, set, moving, same columns[T]
	conditions            []string  // of same, with a ? for each parameter
	more                  []string  // as given
	texts                 *sync.Map // of the UPDATE, by which of moving it sets
}

// save makes the UPDATE that sets some columns of c, on the condition that others are still as
// they were. Of these, a name with a plus sign before it has one before its parameter; see
// saveWorkunit. Columns in moving are set only if they change: indexes, checks and triggers
// go by them, which take longer than all the rest of the row, whether the value is new or not.
// more are further assignments, with a ? for each parameter.
func (c columns[T]) save(table, set, moving, same string, more ...string) saving[T] {
	s := saving[T]{table: table, id: c.named("id"), set: c.named(set), moving: c.named(moving), more: more, texts: new(sync.Map)}
	for name := range strings.FieldsFuncSeq(same, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		name, plus := strings.CutPrefix(name, "+")
		s.same = append(s.same, c.named(name)...)
		if plus {
			s.conditions = append(s.conditions, name+" = +?")
		} else {
			s.conditions = append(s.conditions, name+" = ?")
		}
	}
	return s
}

// of returns the UPDATE that makes of old what now is, and its arguments with those of the
// further assignments. What changes alike has the same text.
func (s saving[T]) of(old, now *T, more ...any) (query string, args []any) {
	args = append(s.id.values(old), s.set.values(now)...)
	var moved uint64
	for i, c := range s.moving {
		if was, is := stored(c.at(old)), stored(c.at(now)); was != is {
			moved |= 1 << i
			args = append(args, is)
		}
	}
	args = append(append(args, more...), s.same.values(old)...)
	return s.text(moved), args
}

func (s saving[T]) text(moved uint64) string {
	if text, ok := s.texts.Load(moved); ok {
		return text.(string)
	}
	var assign []string
	for _, c := range s.set {
		assign = append(assign, c.name+" = ?")
	}
	for i, c := range s.moving {
		if moved&(1<<i) != 0 {
			assign = append(assign, c.name+" = ?")
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
