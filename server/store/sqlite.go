package store

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

// sqliteFile is a database in a file. One connection writes, several read.
type sqliteFile struct {
	readers *readers
	writer  *writer
}

func openSQLite(ctx context.Context, path string) (*sqliteFile, error) {
	if err := prepareSQLite(ctx, dsn(path, "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)")); err != nil {
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
func prepareSQLite(ctx context.Context, name string) error {
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := migrate(ctx, goose.DialectSQLite3, db, asWritten); err != nil {
		return err
	}
	return enforce(ctx, db, []string{"BEGIN IMMEDIATE"}, sqliteTriggers())
}

func sqliteTriggers() (out []string) {
	for _, g := range guards() {
		var text strings.Builder
		fmt.Fprintf(&text, "CREATE TRIGGER %s_moves AFTER UPDATE OF %s ON %[1]s WHEN %[3]s BEGIN SELECT CASE", g.table, g.columns, g.illegal)
		for _, r := range g.refusals {
			fmt.Fprintf(&text, " WHEN %s THEN RAISE(ABORT, '%s')", r.illegal, r.message)
		}
		out = append(out, fmt.Sprintf("DROP TRIGGER IF EXISTS %s_moves", g.table), text.String()+" END; END")
	}
	for _, table := range catalogTables {
		for _, what := range []string{"INSERT", "UPDATE", "DELETE"} {
			out = append(out, fmt.Sprintf("DROP TRIGGER IF EXISTS %s_%s_stamp", table, strings.ToLower(what)),
				fmt.Sprintf("CREATE TRIGGER %s_%s_stamp AFTER %s ON %[1]s BEGIN UPDATE catalog SET stamp = stamp + 1; END", table, strings.ToLower(what), what))
		}
	}
	for _, s := range settleds {
		for _, c := range s.triggers() {
			out = append(out, "DROP TRIGGER IF EXISTS "+c.name,
				fmt.Sprintf("CREATE TRIGGER %s AFTER %s ON %s WHEN %s BEGIN %s; END", c.name, c.event, s.table, c.when, c.do))
		}
	}
	for _, table := range appended {
		for _, what := range []string{"UPDATE", "DELETE"} {
			out = append(out, fmt.Sprintf("DROP TRIGGER IF EXISTS %s_no_%s", table, strings.ToLower(what)),
				fmt.Sprintf("CREATE TRIGGER %s_no_%s BEFORE %s ON %[1]s BEGIN SELECT RAISE(ABORT, '%[4]v of a row of %[1]s'); END",
					table, strings.ToLower(what), what, ErrIllegal))
		}
	}
	return out
}

func (s *sqliteFile) close() error { return errors.Join(s.writer.close(), s.readers.close()) }

// dsn builds the driver's name for a file. Writers of other processes may hold
// the lock for as long as a bulk insert takes, so waiting is generous.
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
	case <-s.writer.quit:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	default:
	}
	var c *conn
	select {
	case c = <-s.readers.free:
	case <-s.writer.quit:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { s.readers.free <- c }()
	end := &Tx{View: &View{ctx: context.WithoutCancel(ctx), q: c}}
	if _, err := end.exec("BEGIN"); err != nil {
		return fmt.Errorf("read database: %w", err)
	}
	defer func() { _, _ = end.exec("ROLLBACK") }()
	if ctx.Done() != nil {
		c.SetInterrupt(ctx.Done())
		defer c.SetInterrupt(nil)
	}
	return fn(&Tx{View: &View{ctx: ctx, q: c}})
}

func (s *sqliteFile) update(ctx context.Context, fn func(tx *Tx) error) error {
	return s.writer.update(ctx, fn)
}

// asWritten leaves a migration in SQLite's words.
func asWritten(text string) string { return text }
