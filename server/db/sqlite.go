package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pressly/goose/v3"
)

// A sqliteFile is a database in a file. One connection writes, several read.
type sqliteFile struct {
	*writer
	readers *readers
}

func openSQLite(ctx context.Context, path string, s Schema, allow func(Found) error) (*sqliteFile, error) {
	r, err := s.openCurrent(ctx, path, allow)
	if err != nil {
		return nil, err
	}
	return &sqliteFile{readers: r, writer: startWriter(func() (*conn, error) {
		return openConn(path, "synchronous(FULL)", "foreign_keys(1)", "cache_size(-65536)", "temp_store(MEMORY)")
	})}, nil
}

// openCurrent opens readers of a file if that is allowed. The file's tables and triggers are then this program's.
func (s *Schema) openCurrent(ctx context.Context, path string, allow func(Found) error) (*readers, error) {
	n := max(4, runtime.GOMAXPROCS(0))
	r, f, err := s.look(ctx, path, n)
	if err == nil {
		err = allow(f)
	}
	if r != nil {
		current := false
		if err == nil && f.Version == Latest(s.Migrations) {
			r.with(func(c *conn) { current = s.enforced(ctx, c) })
		}
		if current {
			return r, nil
		}
		err = errors.Join(err, r.close())
	}
	if err == nil {
		err = s.prepareSQLite(ctx, dsn(path, "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"))
	}
	if err != nil {
		return nil, err
	}
	return openReaders(path, n)
}

// enforced reports whether a file has this program's triggers. prepareSQLite finds out, too, but with a further
// connection, for which SQLite reads the whole schema once more.
func (s *Schema) enforced(ctx context.Context, c *conn) bool {
	var mode, triggers string
	err := errors.Join(
		c.query(ctx, "PRAGMA journal_mode", nil, func(row Rows) error { return row.Scan(&mode) }),
		c.query(ctx, "SELECT sql FROM "+s.TriggerTable, nil, func(row Rows) error { return row.Scan(&triggers) }))
	return err == nil && mode == "wal" && triggers == strings.Join(s.SQLiteTriggers(), "\n")
}

// prepareSQLite makes the tables or brings them up to date.
func (s *Schema) prepareSQLite(ctx context.Context, name string) error {
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := s.migrate(ctx, goose.DialectSQLite3, db); err != nil {
		return err
	}
	return s.enforce(ctx, db, []string{"BEGIN IMMEDIATE"}, s.SQLiteTriggers())
}

func (s *sqliteFile) close() error { return errors.Join(s.writer.close(), s.readers.close()) }

// dsn builds the driver's name for a file. Writers of other processes may keep
// the lock for as long as a bulk insert takes, so the timeout is long.
func dsn(path string, pragmas ...string) string {
	p := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		p = "/" + p
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: p}
	q := url.Values{"_pragma": append([]string{"busy_timeout(60000)"}, pragmas...)}
	if !filepath.IsAbs(path) {
		u.Opaque, u.Path = (&url.URL{Path: p}).EscapedPath(), ""
	}
	u.RawQuery = q.Encode()
	return u.String()
}

func (s *sqliteFile) view(ctx context.Context, fn func(tx *Tx) error) error {
	select {
	case <-s.quit:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	default:
	}
	select {
	case <-s.readers.free:
	case <-s.quit:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	c := s.readers.take()
	defer s.readers.put(c)
	end := newTx(context.WithoutCancel(ctx), c)
	if _, err := end.Exec("BEGIN"); err != nil {
		return fmt.Errorf("read database: %w", err)
	}
	defer func() { _, _ = end.Exec("ROLLBACK") }()
	if ctx.Done() != nil {
		c.SetInterrupt(ctx.Done())
		defer c.SetInterrupt(nil)
	}
	return fn(newTx(ctx, c))
}
