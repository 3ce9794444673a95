package store

import (
	"database/sql/driver"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

type row interface{ Scan(dest ...any) error }

// rows are at one of the rows of a query.
type rows interface {
	row
	Columns() ([]string, error)
}

func scanID(r row) (id int64, err error) { return id, r.Scan(&id) }

func scanString(r row) (s string, err error) { return s, r.Scan(&s) }

// unix is a time that is stored as Unix seconds. The zero time is stored as 0.
type unix time.Time

// Int returns the number that is stored.
func (u unix) Int() int64 {
	if t := time.Time(u); !t.IsZero() {
		return t.Unix()
	}
	return 0
}

func (u unix) Value() (driver.Value, error) { return u.Int(), nil }

func (u *unix) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("time is a %T", src)
	}
	*u = unix{}
	if n != 0 {
		*u = unix(time.Unix(n, 0))
	}
	return nil
}

// span is a duration that is stored as whole seconds and read from seconds, whole or not.
type span time.Duration

func (s span) Value() (driver.Value, error) { return int64(s / span(time.Second)), nil }

func (s *span) Scan(src any) error {
	switch v := src.(type) {
	case int64:
		*s = span(v) * span(time.Second)
	case float64:
		*s = span(v * float64(time.Second))
	default:
		return fmt.Errorf("duration is a %T", src)
	}
	return nil
}

// flag is a bool that is stored as 0 or 1.
type flag bool

// Int returns the number that is stored.
func (f flag) Int() int64 {
	if f {
		return 1
	}
	return 0
}

func (f flag) Value() (driver.Value, error) { return f.Int(), nil }

func (f *flag) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("flag is a %T", src)
	}
	*f = n != 0
	return nil
}

// endless is a number that may be infinite, which is stored as the largest finite one.
type endless float64

func (e endless) Value() (driver.Value, error) { return min(float64(e), math.MaxFloat64), nil }

func (e *endless) Scan(src any) error {
	v, ok := src.(float64)
	if !ok {
		return fmt.Errorf("number is a %T", src)
	}
	if *e = endless(v); v >= math.MaxFloat64 {
		*e = endless(math.Inf(1))
	}
	return nil
}

// spaced is a list of words that is stored with spaces between them.
type spaced []string

func (s spaced) Value() (driver.Value, error) { return strings.Join(s, " "), nil }

func (s *spaced) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("text is a %T", src)
	}
	*s = strings.Fields(text)
	return nil
}

// jsonList returns ids as JSON, for IN (SELECT value FROM json_each($1)).
func jsonList(list []int64) string {
	b := []byte{'['}
	for i, id := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(append(b, ']'))
}
