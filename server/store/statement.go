package store

import (
	"fmt"
	"strings"
	"unicode"
)

// parameters numbers the parameters of a statement in the order in which they are written.
type parameters int

func (p *parameters) next() string {
	*p++
	return fmt.Sprintf("$%d", int(*p))
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

// A saving is the UPDATE of a row by its id.
type saving[T any] struct {
	query         string
	id, set, same columns[T]
}

// save makes the UPDATE that sets some columns of c, on the condition that others are still as
// they were. Of these, a name with a plus sign before it has one before its parameter; see
// saveWorkunit. more are further assignments, with a ? for each parameter.
func (c columns[T]) save(table, set, same string, more ...string) saving[T] {
	s := saving[T]{id: c.named("id"), set: c.named(set)}
	var p parameters
	where := []string{"id = " + p.next()}
	assign := s.set.names()
	for i, name := range assign {
		assign[i] = name + " = " + p.next()
	}
	for name := range strings.FieldsFuncSeq(same, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		name, plus := strings.CutPrefix(name, "+")
		s.same = append(s.same, c.named(name)...)
		value := p.next()
		if plus {
			value = "+" + value
		}
		where = append(where, name+" = "+value)
	}
	for _, text := range more {
		for strings.Contains(text, "?") {
			text = strings.Replace(text, "?", p.next(), 1)
		}
		assign = append(assign, text)
	}
	s.query = fmt.Sprintf("UPDATE %s\nSET %s\nWHERE %s", table, strings.Join(assign, ", "), strings.Join(where, " AND "))
	return s
}

// args are the arguments that make of old what now is, with those of the further assignments.
func (s saving[T]) args(old, now *T, more ...any) []any {
	out := append(s.id.values(old), s.set.values(now)...)
	return append(append(out, s.same.values(old)...), more...)
}
