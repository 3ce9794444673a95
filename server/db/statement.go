package db

import (
	"fmt"
	"strings"
	"sync"
)

// A Statement is a change of rows. The function that makes it writes two forms. One takes the arguments of a
// single row. The other, for PostgreSQL, takes many rows of arguments. A program makes each statement once, as
// a variable. It is safe for concurrent use.
//
// Its parameters are $1, $2 and so on. A plus sign before a parameter keeps SQLite from preparing the
// statement again for each value.
type Statement struct {
	text string                          // for one row, in SQLite's words. "": SQLite does not need it
	many func(rows string, n int) string // for rows of n arguments, in PostgreSQL's words. nil: it may affect any rows

	table string // in which it changes one row, or ""
	keys  int    // the number of its first arguments that identify that row
	adds  bool   // it adds a row, or changes that row if it exists
	free  bool   // it neither reads nor changes any other row

	once  sync.Once
	forms forms
}

// String returns the form for a single row, in SQLite's words.
func (s *Statement) String() string { return s.text }

// Change makes a statement that may affect any rows.
func Change(text string) *Statement { return &Statement{text: text} }

// Update makes the change of the row whose id is $1: its assignments, and conditions on the row's columns,
// without which it affects no row. It reads no other row.
func Update(table, set string, conditions ...string) *Statement {
	return updateBy(table, []string{"id"}, set, conditions...)
}

// updateBy is Update for the row with some keys, which are the first parameters.
func updateBy(table string, keys []string, set string, conditions ...string) *Statement {
	s := updateReading(table, keys, set, conditions...)
	if strings.Contains(s.text, "SELECT") {
		panic("db: an Update that reads other rows: " + s.text)
	}
	s.free = true
	return s
}

// UpdateReading is Update for assignments and conditions that read other rows, too. No other change of a
// transaction is moved from one side of it to the other.
//
// Of many rows, each is found by its id first, and then changed by its position. A plain join would do as
// well, but while the tables are small, the planner makes one that reads a whole index, and keeps that plan
// when they grow. The condition BETWEEN is always true. It makes the planner expect a single row, so that it
// uses the position.
func UpdateReading(table, set string, conditions ...string) *Statement {
	return updateReading(table, []string{"id"}, set, conditions...)
}

func updateReading(table string, keys []string, set string, conditions ...string) *Statement {
	and := strings.Join(append([]string{""}, conditions...), " AND ")
	var p parameters
	this, each := make([]string, len(keys)), make([]string, len(keys))
	for i, key := range keys {
		this[i], each[i] = key+" = "+p.next(), fmt.Sprintf("t.%s = a.p%d", key, i+1)
	}
	return &Statement{
		text: fmt.Sprintf("UPDATE %s\nSET %s\nWHERE %s%s", table, set, strings.Join(this, " AND "), and),
		many: func(rows string, n int) string {
			named := naming("v.p", n)
			return fmt.Sprintf(`UPDATE %[1]s SET %[2]s
FROM (SELECT a.*, row.at FROM %[3]s
      CROSS JOIN LATERAL (SELECT t.ctid AS at FROM %[1]s t WHERE %[5]s OFFSET 0) row
      WHERE a.p1 BETWEEN 1 AND 9223372036854775807) v
WHERE %[1]s.ctid = v.at%[4]s`, table, named.Replace(set), rows, named.Replace(and), strings.Join(each, " AND "))
		},
		table: table, keys: len(keys),
	}
}

// Holding makes the statement that keeps other transactions from changing the row whose id is $1. SQLite does not
// need it, since it has one writer at a time.
func Holding(table string) *Statement {
	return &Statement{
		many: func(rows string, _ int) string {
			return fmt.Sprintf("SELECT 1 FROM %s CROSS JOIN LATERAL (SELECT 1 FROM %s WHERE id = a.p1 FOR UPDATE OFFSET 0) row", rows, table)
		},
		table: table, keys: 1, free: true,
	}
}

// Insert makes the addition of a row with some columns.
func Insert(table, columns string) *Statement {
	s := insert(table, columns, "")
	s.free = true
	return s
}

// InsertIfMissing is Insert for a row that may exist, and then stays as it is.
func InsertIfMissing(table, columns string) *Statement {
	return insert(table, columns, "\nON CONFLICT DO NOTHING")
}

// Replace is Insert for a row that may exist, and then gets the new values. The first columns, one or two,
// are its key.
func Replace(table, columns string, keys int) *Statement {
	list := fields(columns)
	if keys < 1 || keys > len(rowKey{}.key) || keys >= len(list) {
		panic(fmt.Sprintf("db: a replacement with a key of %d columns of %d", keys, len(list)))
	}
	var set []string
	for _, name := range list[keys:] {
		set = append(set, name+" = excluded."+name)
	}
	s := insert(table, columns, fmt.Sprintf("\nON CONFLICT (%s) DO UPDATE\nSET %s", strings.Join(list[:keys], ", "), strings.Join(set, ", ")))
	s.table, s.keys = table, keys
	return s
}

func insert(table, columns, conflict string) *Statement {
	var p parameters
	list := fields(columns)
	values := make([]string, len(list))
	for i := range values {
		values[i] = p.next()
	}
	into := fmt.Sprintf("INSERT INTO %s (%s)\n", table, strings.Join(list, ", "))
	return &Statement{
		text: into + "VALUES (" + strings.Join(values, ", ") + ")" + conflict,
		many: func(rows string, _ int) string { return into + "SELECT * FROM " + rows + conflict },
		adds: true,
	}
}

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

// naming gives the parameters $1 to $n of a text the names that prefix and their number make.
func naming(prefix string, n int) *strings.Replacer {
	var names []string
	for i := n; i > 0; i-- { // $12 before $1
		from, to := fmt.Sprintf("$%d", i), fmt.Sprintf("%s%d", prefix, i)
		names = append(names, "+"+from, to, from, to)
	}
	return strings.NewReplacer(names...)
}
