package db

import (
	"database/sql/driver"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Row is a row of an answer to a query.
type Row interface{ Scan(dest ...any) error }

// Rows is a row with the names of its columns.
type Rows interface {
	Row
	Columns() ([]string, error)
}

// ScanID reads a row of one number.
func ScanID(r Row) (id int64, err error) { return id, r.Scan(&id) }

// ScanString reads a row of one text.
func ScanString(r Row) (s string, err error) { return s, r.Scan(&s) }

// as returns a value of the database as a T.
func as[T any](name string, value any) (T, error) {
	v, ok := value.(T)
	if !ok {
		return v, fmt.Errorf("%s is a %T", name, value)
	}
	return v, nil
}

// A Unix is a time that is stored as Unix seconds. The zero time is stored as 0.
type Unix time.Time

// Int returns the number that is stored.
func (u Unix) Int() int64 {
	if t := time.Time(u); !t.IsZero() {
		return t.Unix()
	}
	return 0
}

func (u Unix) Value() (driver.Value, error) { return u.Int(), nil }

func (u *Unix) Scan(src any) error {
	n, err := as[int64]("time", src)
	*u = Unix{}
	if n != 0 {
		*u = Unix(time.Unix(n, 0))
	}
	return err
}

// A Span is a duration that is stored as whole seconds and read from seconds, whole or not.
type Span time.Duration

func (s Span) Value() (driver.Value, error) { return int64(s / Span(time.Second)), nil }

func (s *Span) Scan(src any) error {
	switch v := src.(type) {
	case int64:
		*s = Span(v) * Span(time.Second)
	case float64:
		*s = Span(v * float64(time.Second))
	default:
		return fmt.Errorf("duration is a %T", src)
	}
	return nil
}

// A Flag is a bool that is stored as 0 or 1.
type Flag bool

// Int returns the number that is stored.
func (f Flag) Int() int64 {
	if f {
		return 1
	}
	return 0
}

func (f Flag) Value() (driver.Value, error) { return f.Int(), nil }

func (f *Flag) Scan(src any) error {
	n, err := as[int64]("flag", src)
	*f = n != 0
	return err
}

// An Endless is a number that may be infinite, which is stored as the largest finite one.
type Endless float64

func (e Endless) Value() (driver.Value, error) { return min(float64(e), math.MaxFloat64), nil }

func (e *Endless) Scan(src any) error {
	v, err := as[float64]("number", src)
	if *e = Endless(v); v >= math.MaxFloat64 {
		*e = Endless(math.Inf(1))
	}
	return err
}

// Words is a list of words that is stored with spaces between them.
type Words []string

func (s Words) Value() (driver.Value, error) { return strings.Join(s, " "), nil }

func (s *Words) Scan(src any) error {
	text, err := as[string]("text", src)
	*s = strings.Fields(text)
	return err
}

// JSONList returns ids as JSON, for the condition IN (SELECT value FROM json_each($1)).
func JSONList(list []int64) string {
	b := []byte{'['}
	for i, id := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(append(b, ']'))
}
