package db

import (
	"strings"
	"sync"
)

// An Insertion is the INSERT of a T.
type Insertion[T any] struct {
	*Statement
	columns Columns[T]
}

// InsertInto makes the INSERT with values for some columns of c, and for more, which c does not
// have.
func (c Columns[T]) InsertInto(table, names string, more ...string) Insertion[T] {
	columns := c.Named(names)
	return Insertion[T]{Insert(table, strings.Join(append(columns.names(), more...), ", ")), columns}
}

// Replace makes the INSERT of a row with all columns, which replaces a row with the same keys. The
// keys are the first columns.
func (c Columns[T]) Replace(table string, keys int) Insertion[T] {
	return Insertion[T]{Replace(table, c.List(), keys), c}
}

// InsertNew makes the INSERT of a row unless there is one with the same keys, which are the first of the
// columns. It affects no row then.
func (c Columns[T]) InsertNew(table, names string, keys int) Insertion[T] {
	in := Insertion[T]{InsertIfMissing(table, names), c.Named(names)}
	in.table, in.keys, in.free = table, keys, true
	return in
}

// Args returns the arguments that add x, with values for the columns that it does not have.
func (in Insertion[T]) Args(x *T, more ...any) []any { return append(in.columns.Values(x), more...) }

// A Saving is the UPDATE of a row by its keys. It is safe for concurrent use.
type Saving[T any] struct {
	table                   string
	keys, set, moving, same Columns[T]
	conditions              []string  // of same, with a ? for each parameter
	more                    []string  // as given
	made                    *sync.Map // the statements, keyed by the moving columns that they set
}

// Save makes the UPDATE by the id that sets some columns of c, on the condition that others are still as
// they were. Of these, a name with a plus sign before it has one before its parameter. Columns in moving
// are set only if they change: they have indexes, checks and triggers, which take longer than all the rest
// of the row, whether the value is new or not. more are further assignments, with a ? for each parameter.
func (c Columns[T]) Save(table, set, moving, same string, more ...string) Saving[T] {
	return c.SaveBy("id", table, set, moving, same, more...)
}

// SaveBy is Save for a row that is identified by the values of one or two columns.
func (c Columns[T]) SaveBy(keys, table, set, moving, same string, more ...string) Saving[T] {
	s := Saving[T]{table: table, keys: c.Named(keys), set: c.Named(set), moving: c.Named(moving), more: more, made: new(sync.Map)}
	for _, name := range fields(same) {
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

// Of returns the UPDATE that changes old to now, and its arguments, which include more for the
// further assignments. The statement depends only on the columns that change, and is nil if none does.
func (s Saving[T]) Of(old, now *T, more ...any) (*Statement, []any) {
	args := append(s.keys.Values(old), s.set.Values(now)...)
	var moved uint64
	was, is := s.moving.Values(old), s.moving.Values(now)
	for i := range s.moving {
		if was[i] != is[i] {
			moved |= 1 << i
			args = append(args, is[i])
		}
	}
	if len(args) == len(s.keys) && len(s.more) == 0 {
		return nil, nil
	}
	args = append(append(args, more...), s.same.Values(old)...)
	return s.statement(moved), args
}

func (s Saving[T]) statement(moved uint64) *Statement {
	if made, ok := s.made.Load(moved); ok {
		return made.(*Statement)
	}
	p := parameters(len(s.keys))
	var set, conditions []string
	for _, c := range s.set {
		set = append(set, c.name+" = "+p.next())
	}
	for i, c := range s.moving {
		if moved&(1<<i) != 0 {
			set = append(set, c.name+" = "+p.next())
		}
	}
	for _, m := range s.more {
		set = append(set, p.number(m))
	}
	for _, c := range s.conditions {
		conditions = append(conditions, p.number(c))
	}
	made, _ := s.made.LoadOrStore(moved, updateBy(s.table, s.keys.names(), strings.Join(set, ", "), conditions...))
	return made.(*Statement)
}
