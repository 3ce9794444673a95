package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/stdlib"
	driver "modernc.org/sqlite"
	"zombiezen.com/go/sqlite"
)

// Found is the result of Inspect.
type Found struct {
	Empty    bool   // no file, or no tables
	Identity string // the result of Schema.Identity, maybe ""
	Version  int64  // the number of the last migration, 0 if it is empty
}

// Inspect looks at a database and changes nothing, neither its content nor its
// tables. where is as for Open. It returns Schema.Damaged if the database cannot be read. Only Check
// notices damage in the middle of a large file.
func Inspect(ctx context.Context, where string, s Schema) (Found, error) {
	if IsURL(where) {
		f, err := s.inspectPostgres(ctx, where)
		if err != nil {
			return f, fmt.Errorf("open database: %w", away(err))
		}
		return f, nil
	}
	f, err := s.inspectSQLite(ctx, where)
	if err != nil {
		return f, fmt.Errorf("open database %s: %w", where, s.explain(err))
	}
	return f, nil
}

func (s *Schema) inspectSQLite(ctx context.Context, path string) (Found, error) {
	r, f, err := s.look(ctx, path, 1)
	if r != nil {
		err = errors.Join(err, r.close())
	}
	return f, err
}

// look opens n readers of a file, unless it is missing or empty, and inspects it with the first.
func (s *Schema) look(ctx context.Context, path string, n int) (*readers, Found, error) {
	// SQLite would remove the log next to an empty file, which may contain everything.
	switch st, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Found{Empty: true}, nil
	case err != nil:
		return nil, Found{}, err
	case !st.Mode().IsRegular():
		return nil, Found{}, fmt.Errorf("%s is not a file", filepath.Base(path))
	case st.Size() == 0:
		return nil, Found{Empty: true}, nil
	}
	r, err := openReaders(path, n)
	if err != nil {
		return nil, Found{}, err
	}
	var f Found
	r.with(func(c *conn) {
		f, err = s.inspect(func(dest any, query string, args ...any) error {
			return c.query(ctx, query, args, func(row Rows) error { return row.Scan(dest) })
		}, `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = $1`)
	})
	return r, f, err
}

func (s *Schema) inspectPostgres(ctx context.Context, url string) (Found, error) {
	c, err := parseURL(url)
	if err != nil {
		return Found{}, err
	}
	db := stdlib.OpenDB(*c)
	defer db.Close()
	return s.inspect(func(dest any, query string, args ...any) error {
		return db.QueryRowContext(ctx, query, args...).Scan(dest)
	}, `SELECT count(*) FROM pg_class WHERE oid = to_regclass($1)`)
}

// inspect looks for tables. The function get reads a single value. The query tables counts the tables with a
// given name.
func (s *Schema) inspect(get func(dest any, query string, args ...any) error, tables string) (f Found, err error) {
	var n int64
	if err := get(&n, tables, "goose_db_version"); err != nil || n == 0 {
		return Found{Empty: err == nil}, err
	}
	// A migration is recorded in its own transaction, and never undone.
	if err := get(&f.Version, `SELECT COALESCE(max(version_id), 0) FROM goose_db_version`); err != nil {
		return f, err
	}
	if err := get(&n, tables, s.IdentityTable); err != nil || n == 0 {
		return f, err
	}
	return f, get(&f.Identity, s.Identity)
}

// Check reads the whole database, if it is a file, and returns Schema.Damaged if it is
// not what SQLite wrote.
func (d *DB) Check(ctx context.Context) error { return d.check(ctx, "") }

// check is Check of one table, or of all if table is "".
func (d *DB) check(ctx context.Context, table string) error {
	return d.View(ctx, func(v *View) error {
		damage, err := v.q.damage(v.ctx, table)
		if err == nil && len(damage) > 0 {
			err = fmt.Errorf("%w (%s)", d.schema.Damaged, strings.Join(damage, "; "))
		}
		return err
	})
}

// CheckTables is Check of one table after the other, which delays no other transaction, with a call of
// next before each of them. done of all were checked by then. CheckTables returns the first error of next.
func (d *DB) CheckTables(ctx context.Context, next func(table string, done, all int) error) error {
	var tables []string
	err := d.View(ctx, func(v *View) (err error) {
		if _, file := d.engine.(*sqliteFile); file {
			tables, err = All(v, ScanString, `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`)
		}
		return err
	})
	for i, table := range tables {
		if err == nil {
			err = next(table, i, len(tables))
		}
		if err != nil {
			return err
		}
		err = d.check(ctx, table)
	}
	return err
}

// Errors of a database file's surroundings. Nothing was changed.
var (
	ErrFull      = errors.New("the disk is full; nothing was changed. Free some space and the server continues")
	ErrUnwritten = errors.New("the database cannot be written; nothing was changed: is the file system read-only, or do the files belong to another user?")
	ErrDisk      = errors.New("the disk with the database has failed; nothing was changed. Look for its errors in the system's log (journalctl -k), repair it and start the server again")
)

// cause returns the error with a remedy for a code of SQLite, or nil.
func (s *Schema) cause(code sqlite.ResultCode) error {
	switch code {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		return s.Damaged
	case sqlite.ResultFull:
		return ErrFull
	case sqlite.ResultReadOnly, sqlite.ResultCantOpen: // the latter is about the log next to the database
		return ErrUnwritten
	case sqlite.ResultIOErr:
		return ErrDisk
	}
	return nil
}

// explain adds a remedy to an error of SQLite, if there is one.
func (s *Schema) explain(err error) error {
	code := sqlite.ErrCode(err)                         // of transactions
	if e, ok := errors.AsType[*driver.Error](err); ok { // of migrations and copies
		code = sqlite.ResultCode(e.Code()) //nolint:gosec // SQLite has it as 32 bits
	}
	if cause := s.cause(code.ToPrimary()); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	return err
}
