package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	driver "modernc.org/sqlite"
	"zombiezen.com/go/sqlite"
)

// ErrDamaged is returned when the database's file is not what SQLite wrote.
var ErrDamaged = errors.New("the database is damaged: stop the server, keep a copy of project.db with project.db-wal and project.db-shm if they exist, and restore a backup")

// A Found is what Inspect finds where a database should be.
type Found struct {
	Empty    bool   // no file, or no tables
	Identity string // of the project, see Tx.Identity; "" if the database holds none
	Version  int64  // of its tables: the number of the last migration; 0 if it is empty
}

// Inspect looks at a database and changes nothing, neither its content nor its
// tables. where is as for Open. It returns ErrDamaged if it cannot be read for what
// it contains; that a large file is whole is seen by Check only.
func Inspect(ctx context.Context, where string) (Found, error) {
	if IsURL(where) {
		f, err := inspectPostgres(ctx, where)
		if err != nil {
			return f, fmt.Errorf("open database: %w", err)
		}
		return f, nil
	}
	f, err := inspectSQLite(ctx, where)
	if err != nil {
		return f, fmt.Errorf("open database %s: %w", where, explain(err))
	}
	return f, nil
}

func inspectSQLite(ctx context.Context, path string) (Found, error) {
	// SQLite would remove the log beside an empty file, which may hold all there is.
	switch st, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return Found{Empty: true}, nil
	case err != nil:
		return Found{}, err
	case !st.Mode().IsRegular():
		return Found{}, fmt.Errorf("%s is not a file", filepath.Base(path))
	case st.Size() == 0:
		return Found{Empty: true}, nil
	}
	db, err := sql.Open("sqlite", dsn(path, "query_only(1)")+"&mode=rw")
	if err != nil {
		return Found{}, err
	}
	defer db.Close()
	return inspect(ctx, db, `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = $1`)
}

func inspectPostgres(ctx context.Context, url string) (Found, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return Found{}, err // tells the URL without its password
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectTime
	}
	db := stdlib.OpenDB(*c)
	defer db.Close()
	return inspect(ctx, db, `SELECT count(*) FROM pg_class WHERE oid = to_regclass($1)`)
}

// inspect asks for tables with a query that counts those of a name.
func inspect(ctx context.Context, db *sql.DB, tables string) (f Found, err error) {
	has := func(table string) (n int, err error) {
		return n, db.QueryRowContext(ctx, tables, table).Scan(&n)
	}
	n, err := has("goose_db_version")
	if err != nil || n == 0 {
		return Found{Empty: err == nil}, err
	}
	// What was applied is written down in the same transaction, and never taken back.
	if err := db.QueryRowContext(ctx, `SELECT COALESCE(max(version_id), 0) FROM goose_db_version`).Scan(&f.Version); err != nil {
		return f, err
	}
	if n, err = has("project"); err != nil || n == 0 {
		return f, err
	}
	return f, db.QueryRowContext(ctx, `SELECT COALESCE((SELECT identity FROM project), '')`).Scan(&f.Identity)
}

// Check reads the whole database, if it is a file, and returns ErrDamaged if it is
// not what SQLite wrote.
func (s *Store) Check(ctx context.Context) error {
	return s.View(ctx, func(tx *View) error {
		damage, err := tx.q.damage(tx.ctx, "")
		if err == nil && len(damage) > 0 {
			err = fmt.Errorf("%w (%s)", ErrDamaged, strings.Join(damage, "; "))
		}
		return err
	})
}

// CheckTables is Check of one table after the other, so that nobody waits for it, and with a call of
// next before each of them: done of all were checked. An error of next ends it and is returned.
func (s *Store) CheckTables(ctx context.Context, next func(table string, done, all int) error) error {
	var tables []string
	err := s.View(ctx, func(tx *View) (err error) {
		if _, file := s.db.(*sqliteFile); file {
			tables, err = all(tx, scanString, `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`)
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
		err = s.View(ctx, func(tx *View) error {
			damage, err := tx.q.damage(tx.ctx, table)
			if err == nil && len(damage) > 0 {
				err = fmt.Errorf("%w (%s)", ErrDamaged, strings.Join(damage, "; "))
			}
			return err
		})
	}
	return err
}

const identity = `SELECT COALESCE((SELECT identity FROM project), '')`

// Identity returns the mark of the project whose database this is, or "".
func (t *View) Identity() (string, error) { return one(t, scanString, identity) }

// SetIdentity makes the database a project's. id is not "".
func (t *Tx) SetIdentity(id string) error {
	if err := t.run(`DELETE FROM project`); err != nil {
		return err
	}
	return t.run(`INSERT INTO project (identity) VALUES ($1)`, id)
}

// Errors of a database whose place is not as it should be. Nothing was changed.
var (
	ErrFull      = errors.New("the disk is full; nothing was changed. Free some space and the server continues")
	ErrUnwritten = errors.New("the database cannot be written; nothing was changed: is the file system read-only, or do the files belong to another user?")
)

// causes are SQLite's codes for what its operator can do something about.
var causes = map[sqlite.ResultCode]error{
	sqlite.ResultReadOnly: ErrUnwritten,
	sqlite.ResultCorrupt:  ErrDamaged,
	sqlite.ResultFull:     ErrFull,
	sqlite.ResultCantOpen: ErrUnwritten, // the log beside the database
	sqlite.ResultNotADB:   ErrDamaged,
}

// explain says what can be done about an error of SQLite.
func explain(err error) error {
	code := sqlite.ErrCode(err)                         // of what the store asks
	if e, ok := errors.AsType[*driver.Error](err); ok { // of migrations and copies
		code = sqlite.ResultCode(e.Code()) //nolint:gosec // SQLite has it as 32 bits
	}
	if cause := causes[code.ToPrimary()]; cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	return err
}
