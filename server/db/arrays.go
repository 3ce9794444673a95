package db

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

var (
	// changeByID matches a change of a row by its id: the table, the assignments, and another
	// condition, if any.
	changeByID = regexp.MustCompile(`(?s)^\s*UPDATE ("?\w+"?)\s+SET\s+(.*?)\s+WHERE\s+id = \$1(?:\s+AND\s+(.*))?$`)
	// addition matches an INSERT of a row of parameters.
	addition = regexp.MustCompile(`(?s)^\s*INSERT INTO \w+ \([^()]*\)\s+VALUES \([$0-9,\s]+\)`)
	// replacement matches an addition that changes an existing row: the table, its columns, and the
	// key.
	replacement = regexp.MustCompile(`(?s)^\s*INSERT INTO (\w+) \(([^()]*)\)\s+VALUES \([$0-9,\s]+\)\s*ON CONFLICT \(([^()]*)\) DO UPDATE`)
	values      = regexp.MustCompile(`VALUES \([$0-9,\s]+\)`)
	parameter   = regexp.MustCompile(`\+?\$(\d+)`)
	comment     = regexp.MustCompile(`--[^\n]*`)
)

// prepareEach turns a change of one row by its id, or an addition of one, into a change of
// many, whose arguments come as one array for each parameter.
//
// The rows are found by their ids first, one by one, and then changed by their positions. A
// plain join would do as well, but while the tables are small, the planner makes one
// that reads a whole index, and keeps that plan when they grow. The condition BETWEEN
// is always true. It makes the planner expect a single row, so that it uses the position.
func (p *postgres) prepareEach(query string, list [][]any) prepared {
	key := "each " + query
	if q, ok := p.queries.Load(key); ok {
		return q.(prepared)
	}
	arrays, names := unnest(list[0])
	if addition.MatchString(query) {
		q := prepared{query: values.ReplaceAllLiteralString(query, fmt.Sprintf("SELECT * FROM unnest(%s) a(%s)", arrays, names))}
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
WHERE %[1]s.ctid = v.at%[5]s`, table, of(part[2]), arrays, names, and)
	q := prepared{
		query: text,
		must: fmt.Sprintf("WITH changed AS (%s RETURNING 1) SELECT 1 / (CASE WHEN count(*) = $%d::bigint THEN 1 ELSE 0 END) FROM changed",
			text, len(list[0])+1),
	}
	p.queries.Store(key, q)
	return q
}

// prepareMany turns a query into one for many rows of arguments at once, which
// come as one array for each parameter. The first column of the answer is the number of the
// row of arguments, starting with 1.
func (p *postgres) prepareMany(query string, args []any) string {
	key := "many " + query
	if q, ok := p.queries.Load(key); ok {
		return q.(prepared).query
	}
	arrays, names := unnest(args)
	q := prepared{query: fmt.Sprintf("SELECT a.nr, q.* FROM unnest(%s) WITH ORDINALITY a(%s, nr) CROSS JOIN LATERAL (SELECT * FROM (%s\n) asked OFFSET 0) q",
		arrays, names, parameter.ReplaceAllString(p.prepare(query).query, "a.p$1"))}
	p.queries.Store(key, q)
	return q.query
}

// unnest returns the parameters of the arrays for rows of arguments, and the names p1, p2 and so on of
// the columns that they become.
func unnest(args []any) (arrays, names string) {
	list, named := make([]string, len(args)), make([]string, len(args))
	for i, a := range args {
		list[i], named[i] = fmt.Sprintf("$%d::%s[]", i+1, sqlType(plain(a))), fmt.Sprintf("p%d", i+1)
	}
	return strings.Join(list, ", "), strings.Join(named, ", ")
}

// A shape has the properties of a statement that matter for combining several.
type shape struct {
	table string // in which it changes one row, by its id or another key, or ""
	keys  int    // the number of its first arguments that are the key
	adds  bool   // it adds a row of parameters, or changes that row if it exists
	free  bool   // it changes or adds a row, and neither reads nor changes any other row
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

// plain returns an argument as one of a database's types: int64, float64 or string.
func plain(a any) any {
	if x, ok := simple(a); ok {
		return x
	}
	panic(fmt.Sprintf("db: argument of type %T", a))
}

// simple is plain for arguments of any type. It returns false for other types.
func simple(a any) (any, bool) {
	switch v := a.(type) {
	case int64, float64, string:
		return a, true
	case driver.Valuer:
		x, err := v.Value()
		if err != nil {
			panic(err) // the types of this package return no error
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
