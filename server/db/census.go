package db

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
)

// A Census has the number of rows of each table of a database, and a sum of their contents. It is the
// same for the same rows on SQLite and PostgreSQL, in any order.
type Census map[string]TableSum

// A TableSum is the census of one table.
type TableSum struct {
	Rows int64  `json:"rows"`
	Sum  string `json:"sum"` // the sum of 128 bits of each row's SHA-256, in hex
}

// Differences names the tables in which two databases differ.
func (c Census) Differences(other Census) (tables []string) {
	all := make(Census)
	maps.Copy(all, c)
	maps.Copy(all, other)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if c[name] != other[name] {
			tables = append(tables, name)
		}
	}
	return tables
}

// Rows returns the number of rows of all tables.
func (c Census) Rows() (n int64) {
	for _, sum := range c {
		n += sum.Rows
	}
	return n
}

// A sum adds up rows.
type sum struct {
	rows   int64
	hi, lo uint64
	buf    []byte
}

// add adds a row of numbers, texts and NULLs.
func (s *sum) add(row []any) error {
	s.buf = s.buf[:0]
	for _, v := range row {
		switch v := v.(type) {
		case nil:
			s.buf = append(s.buf, 'n')
		case int64:
			s.buf = binary.LittleEndian.AppendUint64(append(s.buf, 'i'), uint64(v)) //nolint:gosec // its bits
		case float64:
			s.buf = binary.LittleEndian.AppendUint64(append(s.buf, 'f'), math.Float64bits(v+0)) // -0 is 0
		case string:
			s.buf = append(binary.LittleEndian.AppendUint64(append(s.buf, 't'), uint64(len(v))), v...)
		default:
			return fmt.Errorf("a value of type %T", v)
		}
	}
	h := sha256.Sum256(s.buf)
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, binary.LittleEndian.Uint64(h[:8]), 0)
	s.hi, _ = bits.Add64(s.hi, binary.LittleEndian.Uint64(h[8:16]), carry)
	s.rows++
	return nil
}

func (s *sum) table() TableSum {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], s.hi)
	binary.BigEndian.PutUint64(b[8:], s.lo)
	return TableSum{Rows: s.rows, Sum: hex.EncodeToString(b[:])}
}

// A tableShape is a table that is copied.
type tableShape struct {
	name    string
	columns []string // in quotes
	serial  bool     // the database numbers the rows by the column id
}

// derived are tables of the engine, which each database has for itself.
var derived = []string{"goose_db_version", "sqlite_sequence"}

// shapes returns the tables of a database of this program's version that are copied. Each comes after
// those to which its rows refer, and Schema.Stamp last.
func (s *Schema) shapes(ctx context.Context) (out []tableShape, err error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := s.migrate(ctx, goose.DialectSQLite3, db); err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT m.name, c.name, m.sql FROM sqlite_master m JOIN pragma_table_info(m.name) c
WHERE m.type = 'table' ORDER BY m.name = $1, m.rowid, c.cid`, s.Stamp)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var table, column, text string
		if err := rows.Scan(&table, &column, &text); err != nil {
			return nil, err
		}
		if table == s.TriggerTable || slices.Contains(derived, table) || slices.Contains(s.Private, table) {
			continue
		}
		if n := len(out); n == 0 || out[n-1].name != table {
			out = append(out, tableShape{name: table})
		}
		last := &out[len(out)-1]
		last.columns = append(last.columns, `"`+column+`"`)
		last.serial = last.serial || column == "id" && strings.Contains(text, "INTEGER PRIMARY KEY")
	}
	return out, rows.Err()
}

func (t tableShape) list() string { return strings.Join(t.columns, ", ") }

// read calls each with every row of the table, which is valid until each returns.
func (t tableShape) read(ctx context.Context, c *sql.Conn, each func(row []any) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("table %s: %w", t.name, err)
		}
	}()
	rows, err := c.QueryContext(ctx, `SELECT `+t.list()+` FROM "`+t.name+`"`) //nolint:gosec // names of our own
	if err != nil {
		return err
	}
	defer rows.Close()
	row, into := make([]any, len(t.columns)), make([]any, len(t.columns))
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := each(clean(row)); err != nil {
			return err
		}
	}
	return rows.Err()
}

// TakeCensus counts the rows of a database of this program's version. where is as for Open. It sees
// one state of the database, even while servers use it.
func TakeCensus(ctx context.Context, where string, s Schema) (Census, error) {
	tables, err := s.shapes(ctx)
	if err != nil {
		return nil, err
	}
	src, err := s.openEnd(ctx, where, true)
	if err != nil {
		return nil, err
	}
	defer src.close()
	out := make(Census)
	for _, t := range tables {
		var sum sum
		if err := t.read(ctx, src.c, sum.add); err != nil {
			return nil, err
		}
		out[t.name] = sum.table()
	}
	return out, nil
}
