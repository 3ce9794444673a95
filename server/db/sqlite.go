package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"

	"github.com/pressly/goose/v3"
)

// A sqliteFile is a database in a file. One connection writes, several read.
type sqliteFile struct {
	*writer
	readers *readers
}

func openSQLite(ctx context.Context, path string, s Schema) (*sqliteFile, error) {
	if err := s.prepareSQLite(ctx, dsn(path, "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)")); err != nil {
		return nil, err
	}
	c, err := openConn(path, "synchronous(FULL)", "foreign_keys(1)", "cache_size(-65536)", "temp_store(MEMORY)")
	if err != nil {
		return nil, err
	}
	r, err := openReaders(path, max(4, runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &sqliteFile{readers: r, writer: startWriter(c)}, nil
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
	var c *conn
	select {
	case c = <-s.readers.free:
	case <-s.quit:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { s.readers.free <- c }()
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
