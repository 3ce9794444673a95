package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// ErrNotEmpty is returned by Copy if its target has rows.
var ErrNotEmpty = errors.New("the database is not empty")

// Snapshot writes one state of a database into an SQLite file that does not exist, or
// is empty, and returns its census. The database, which is of this program's version,
// may be in use at the same time.
func Snapshot(ctx context.Context, from, path string, s Schema) (Census, error) {
	if IsURL(from) {
		return Copy(ctx, from, path, s)
	}
	db, err := sql.Open("sqlite", dsn(from))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // it has account keys
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, `VACUUM INTO $1`, path); err != nil {
		return nil, fmt.Errorf("copy database: %w", s.explain(err))
	}
	return TakeCensus(ctx, path, s)
}

// Copy copies one state of a database into another database, and returns its census. Both are as
// for Open. from has this program's version and may be in use. to is a database without rows, or a
// file that does not exist. Copy reads the copy again and compares it. After an error, to is left
// without rows.
func Copy(ctx context.Context, from, to string, s Schema) (Census, error) {
	tables, err := s.shapes(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.prepareCopy(ctx, to, tables); err != nil {
		return nil, err
	}
	src, err := s.openEnd(ctx, from, true)
	if err != nil {
		return nil, err
	}
	defer src.close()
	dst, err := s.openEnd(ctx, to, false)
	if err != nil {
		return nil, err
	}
	defer dst.close()
	copied := make(Census)
	for _, t := range tables {
		if copied[t.name], err = copyTable(ctx, src, dst, t); err != nil {
			return nil, fmt.Errorf("copy table %s: %w", t.name, err)
		}
	}
	if err := dst.commit(ctx); err != nil {
		return nil, err
	}
	found, err := TakeCensus(ctx, to, s)
	if err != nil {
		return nil, err
	}
	if d := copied.Differences(found); len(d) > 0 {
		return nil, fmt.Errorf("the copy differs from the original in %s", strings.Join(d, ", "))
	}
	return copied, nil
}

// prepareCopy makes the tables, and checks that they are empty.
func (s *Schema) prepareCopy(ctx context.Context, to string, tables []tableShape) error {
	made, err := Open(ctx, to, *s)
	if err != nil {
		return err
	}
	if err := made.Close(); err != nil {
		return err
	}
	if !IsURL(to) {
		if err := os.Chmod(to, 0o600); err != nil { // it has account keys
			return err
		}
	}
	dst, err := s.openEnd(ctx, to, true)
	if err != nil {
		return err
	}
	defer dst.close()
	for _, t := range tables {
		n := 0
		if err := dst.c.QueryRowContext(ctx, `SELECT count(*) FROM "`+t.name+`"`).Scan(&n); err != nil {
			return err
		}
		if n > 0 && t.name != s.Stamp {
			return fmt.Errorf("%w: there are rows in the table %s", ErrNotEmpty, t.name)
		}
	}
	return nil
}

// copyTable copies one table and the number that its next row gets.
func copyTable(ctx context.Context, src *end, dst *end, t tableShape) (TableSum, error) {
	if _, err := dst.c.ExecContext(ctx, `DELETE FROM "`+t.name+`"`); err != nil { //nolint:gosec // a name of our own; Schema.Stamp may have a row
		return TableSum{}, err
	}
	var s sum
	if err := dst.load(ctx, t, src, &s); err != nil {
		return TableSum{}, err
	}
	if !t.serial {
		return s.table(), nil
	}
	last, err := src.lastID(ctx, t.name)
	if err != nil {
		return TableSum{}, err
	}
	return s.table(), dst.setLastID(ctx, t.name, last)
}

// An end is the source or the target of a copy, with its one transaction.
type end struct {
	db       *sql.DB
	c        *sql.Conn
	postgres bool
}

func (s *Schema) openEnd(ctx context.Context, where string, readOnly bool) (e *end, err error) {
	e = &end{postgres: IsURL(where)}
	begin, pragma, mode := "BEGIN", "synchronous(FULL)", ""
	if readOnly {
		pragma, mode = "query_only(1)", " READ ONLY"
	}
	if e.postgres {
		var c *pgx.ConnConfig
		if c, err = parseURL(where); err == nil {
			e.db = stdlib.OpenDB(*c)
			begin = "BEGIN ISOLATION LEVEL REPEATABLE READ" + mode // each query is asked once, for a whole table
		}
	} else {
		e.db, err = sql.Open("sqlite", dsn(filepath.Clean(where), pragma)+"&mode=rw")
	}
	if err != nil {
		return nil, err
	}
	if e.c, err = e.db.Conn(ctx); err == nil {
		_, err = e.c.ExecContext(ctx, begin)
	}
	if err != nil {
		_ = e.db.Close()
		return nil, fmt.Errorf("open database: %w", s.explain(err))
	}
	return e, nil
}

// close undoes the transaction unless it was committed.
func (e *end) close() {
	_, _ = e.c.ExecContext(context.Background(), "ROLLBACK")
	_ = e.c.Close()
	_ = e.db.Close()
}

// lastID returns the greatest number that a row of the table ever had.
func (e *end) lastID(ctx context.Context, table string) (n int64, err error) {
	query := `SELECT max(COALESCE((SELECT max(id) FROM "` + table + `"), 0), COALESCE((SELECT seq FROM sqlite_sequence WHERE name = $1), 0))`
	if e.postgres {
		// The last value of a sequence that was never used is 1, too.
		query = `SELECT GREATEST(COALESCE((SELECT max(id) FROM "` + table + `"), 0),
COALESCE((SELECT last_value FROM pg_sequences WHERE schemaname || '.' || sequencename = pg_get_serial_sequence(quote_ident($1), 'id')), 0))`
	}
	return n, e.c.QueryRowContext(ctx, query, table).Scan(&n)
}

// commit makes the copy durable.
func (e *end) commit(ctx context.Context) error {
	if _, err := e.c.ExecContext(ctx, "COMMIT"); err != nil {
		return err
	}
	tidy := "PRAGMA wal_checkpoint(TRUNCATE)"
	if e.postgres {
		tidy = "ANALYZE"
	}
	_, err := e.c.ExecContext(ctx, tidy)
	return err
}

// load copies the rows of a table and adds them up.
func (e *end) load(ctx context.Context, shape tableShape, src *end, s *sum) error {
	if e.postgres {
		return e.c.Raw(func(driver any) error { return loadPostgres(ctx, driver.(*stdlib.Conn).Conn(), shape, src, s) })
	}
	places := strings.TrimSuffix(strings.Repeat("?, ", len(shape.columns)), ", ")
	insert, err := e.c.PrepareContext(ctx, `INSERT INTO "`+shape.name+`" (`+shape.list()+`) VALUES (`+places+`)`) //nolint:gosec,sqlclosecheck // names of our own; closed below
	if err != nil {
		return err
	}
	defer insert.Close()
	return shape.read(ctx, src.c, func(row []any) error {
		if err := s.add(row); err != nil {
			return err
		}
		_, err := insert.ExecContext(ctx, row...)
		return err
	})
}

// loadPostgres copies by COPY, which also sets numbers that are otherwise the database's.
func loadPostgres(ctx context.Context, c *pgx.Conn, shape tableShape, src *end, s *sum) error {
	columns := make([]string, len(shape.columns))
	for i, name := range shape.columns {
		columns[i] = strings.Trim(name, `"`)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows, read := make(chan []any, 64), make(chan error, 1)
	go func() {
		defer close(rows)
		read <- shape.read(ctx, src.c, func(row []any) error {
			if err := s.add(row); err != nil {
				return err
			}
			select {
			case rows <- append([]any(nil), row...):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	_, err := c.CopyFrom(ctx, pgx.Identifier{shape.name}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		if row, ok := <-rows; ok {
			return row, nil
		}
		err := <-read
		read <- err
		return nil, err // no error: the end
	}))
	cancel()
	if failed := <-read; err == nil {
		err = failed
	}
	return err
}

// setLastID makes the number of the next row greater than last.
func (e *end) setLastID(ctx context.Context, table string, last int64) error {
	if last == 0 {
		return nil
	}
	if e.postgres {
		_, err := e.c.ExecContext(ctx, `SELECT setval(pg_get_serial_sequence(quote_ident($1), 'id'), $2)`, table, last)
		return err
	}
	// Without a row here, the next number of a table follows the greatest that is left.
	if _, err := e.c.ExecContext(ctx, `DELETE FROM sqlite_sequence WHERE name = $1`, table); err != nil {
		return err
	}
	_, err := e.c.ExecContext(ctx, `INSERT INTO sqlite_sequence (name, seq) SELECT $1, $2 WHERE EXISTS
(SELECT 1 FROM sqlite_master WHERE name = $1 AND sql LIKE '%AUTOINCREMENT%')`, table, last)
	return err
}
