package db

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

var (
	// changeByID are a change of a row by its id: the table, what is set, and on what other
	// condition, if any.
	changeByID = regexp.MustCompile(`(?s)^\s*UPDATE ("?\w+"?)\s+SET\s+(.*?)\s+WHERE\s+id = \$1(?:\s+AND\s+(.*))?$`)
	// addition adds a row of nothing but parameters.
	addition = regexp.MustCompile(`(?s)^\s*INSERT INTO \w+ \([^()]*\)\s+VALUES \([$0-9,\s]+\)`)
	// replacement is an addition that changes what is there: the table, its columns, and those
	// by which the row is known.
	replacement = regexp.MustCompile(`(?s)^\s*INSERT INTO (\w+) \(([^()]*)\)\s+VALUES \([$0-9,\s]+\)\s*ON CONFLICT \(([^()]*)\) DO UPDATE`)
	values      = regexp.MustCompile(`VALUES \([$0-9,\s]+\)`)
	parameter   = regexp.MustCompile(`\+?\$(\d+)`)
	comment     = regexp.MustCompile(`--[^\n]*`)
)

// prepareEach makes of a change of one row by its id, or of an addition of one, a change of
// many, of which the arguments come as one array for each parameter.
//
// The rows are looked up by their ids first, one by one, and then met where they lie. A
// plain join would do as well, but of that the planner, while the tables are small, makes
// one that reads an index from end to end, and stays with it when they are not. That each
// id is one, BETWEEN, is no condition: it has the planner expect a single row, for which
// nothing is dearer than to go where it lies.
func (p *postgres) prepareEach(query string, list [][]any) prepared {
	key := "each " + query
	if q, ok := p.queries.Load(key); ok {
		return q.(prepared)
	}
	var arrays, names []string
	for i, a := range list[0] {
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", i+1, sqlType(plain(a))))
		names = append(names, fmt.Sprintf("p%d", i+1))
	}
	if addition.MatchString(query) {
		q := prepared{query: values.ReplaceAllLiteralString(query, fmt.Sprintf("SELECT * FROM unnest(%s) a(%s)", strings.Join(arrays, ", "), strings.Join(names, ", ")))}
		p.queries.Store(key, q)
		return q
	}
	part := changeByID.FindStringSubmatch(strings.TrimSpace(comment.ReplaceAllString(query, "")))
	if part == nil {
		panic("db: not a change by id: " + query)
	}
	of := func(text string) string { return parameter.ReplaceAllString(text, "v.p$1") }
	table, and := part[1], ""
	if part[3] != "" {
		and = " AND " + of(part[3])
	}
	text := fmt.Sprintf(`UPDATE %[1]s SET %[2]s
FROM (SELECT a.*, row.at FROM unnest(%[3]s) a(%[4]s)
      CROSS JOIN LATERAL (SELECT t.ctid AS at FROM %[1]s t WHERE t.id = a.p1 OFFSET 0) row
      WHERE a.p1 BETWEEN 1 AND 9223372036854775807) v
WHERE %[1]s.ctid = v.at%[5]s`, table, of(part[2]), strings.Join(arrays, ", "), strings.Join(names, ", "), and)
	q := prepared{
		query: text,
		must: fmt.Sprintf("WITH changed AS (%s RETURNING 1) SELECT 1 / (CASE WHEN count(*) = $%d::bigint THEN 1 ELSE 0 END) FROM changed",
			text, len(names)+1),
	}
	p.queries.Store(key, q)
	return q
}

// prepareMany makes of a query one that is asked with many rows of arguments at once, which
// come as one array for each parameter. Of each row of an answer the first column tells for
// which of them it is, beginning with 1.
func (p *postgres) prepareMany(query string, args []any) string {
	key := "many " + query
	if q, ok := p.queries.Load(key); ok {
		return q.(prepared).query
	}
	var arrays, names []string
	for i, a := range args {
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", i+1, sqlType(plain(a))))
		names = append(names, fmt.Sprintf("p%d", i+1))
	}
	q := prepared{query: fmt.Sprintf("SELECT a.nr, q.* FROM unnest(%s) WITH ORDINALITY a(%s, nr) CROSS JOIN LATERAL (SELECT * FROM (%s\n) asked OFFSET 0) q",
		strings.Join(arrays, ", "), strings.Join(names, ", "), parameter.ReplaceAllString(p.prepare(query).query, "a.p$1"))}
	p.queries.Store(key, q)
	return q.query
}

// A shape is what a statement does, as far as it matters for making one of several.
type shape struct {
	table string // of which it changes one row, by its id or by what is known of it; "" if it does something else
	keys  int    // as many of its first arguments say which row
	adds  bool   // it adds a row of nothing but parameters, or changes that if it is there
	free  bool   // it does one of both and neither reads nor changes any other row
}

func (p *postgres) shape(query string) shape {
	if s, ok := p.shapes.Load(query); ok {
		return s.(shape)
	}
	var s shape
	if part := changeByID.FindStringSubmatch(strings.TrimSpace(comment.ReplaceAllString(query, ""))); part != nil {
		s.table, s.keys = part[1], 1
	}
	s.adds = addition.MatchString(query)
	s.free = (s.table != "" || s.adds) && !strings.Contains(query, "SELECT") && !strings.Contains(query, "ON CONFLICT")
	if part := replacement.FindStringSubmatch(query); part != nil && strings.HasPrefix(strings.Join(strings.Fields(part[2]), " "), part[3]) {
		s.table, s.keys = part[1], strings.Count(part[3], ",")+1
	}
	p.shapes.Store(query, s)
	return s
}

// transposed turns rows of arguments into an array for each parameter.
func transposed(list [][]any) []any {
	out := make([]any, len(list[0]))
	for i := range out {
		switch plain(list[0][i]).(type) {
		case int64:
			out[i] = across[int64](list, i)
		case float64:
			out[i] = across[float64](list, i)
		default:
			out[i] = across[string](list, i)
		}
	}
	return out
}

func across[T any](list [][]any, i int) []T {
	out := make([]T, len(list))
	for j, args := range list {
		out[j] = clean([]any{plain(args[i])})[0].(T)
	}
	return out
}

func sqlType(a any) string {
	switch a.(type) {
	case int64:
		return "bigint"
	case float64:
		return "double precision"
	}
	return "text"
}

// plain returns an argument as one of the types that a database knows: int64, float64,
// string.
func plain(a any) any {
	if x, ok := simple(a); ok {
		return x
	}
	panic(fmt.Sprintf("db: argument of type %T", a))
}

// simple is plain for arguments that may be of other types: it returns false then.
func simple(a any) (any, bool) {
	switch v := a.(type) {
	case int64, float64, string:
		return a, true
	case driver.Valuer:
		x, err := v.Value()
		if err != nil {
			panic(err) // those of this package have none
		}
		return simple(x)
	}
	switch v := reflect.ValueOf(a); v.Kind() {
	case reflect.Int, reflect.Int64, reflect.Int32:
		return v.Int(), true
	case reflect.String:
		return v.String(), true
	default:
		return nil, false
	}
}
