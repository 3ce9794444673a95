// Package store is the server's database: BOINC's tables, with every query that
// is run against them.
//
// Work is done in transactions: Update for changes, View for a consistent look.
// A change of state is a compare-and-set on what its caller saw, so that daemons
// and other processes may race without locks: the loser gets ErrLost and looks
// again. Time comes from the caller; no query asks the database for it.
//
// The package decides nothing. What follows from a state is known by the
// transitioner, validator, scheduler and so on.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver
)

var (
	// ErrNotFound is returned when no row has the id or name asked for.
	ErrNotFound = errors.New("not found")
	// ErrLost is returned by a compare-and-set when the row is no longer as the
	// caller saw it. Nothing was changed.
	ErrLost = errors.New("changed by another process")
	// ErrExists is returned when a row with the same unique name is there.
	ErrExists = errors.New("already exists")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("store is closed")
)

// Never is the transition time of a workunit that waits for an event only. It
// is the last second of the year 9999; BOINC's own number comes due in 2038.
var Never = time.Unix(253402300799, 0)

//go:embed migrations/*.sql
var migrations embed.FS

// A Store is an open database. It is safe for concurrent use, and several
// processes may have the same database open.
type Store struct {
	readers *readers
	writer  *writer
}

// Open opens the SQLite database in the file path, makes it if there is none,
// and brings its tables up to date. The caller closes it.
func Open(ctx context.Context, path string) (*Store, error) { return open(ctx, path, "FULL") }

// OpenVolatile is Open for tests that make millions of changes: they survive
// the process, but not a power cut.
func OpenVolatile(ctx context.Context, path string) (*Store, error) { return open(ctx, path, "OFF") }

func open(ctx context.Context, path, synchronous string) (*Store, error) {
	w, err := sql.Open("sqlite", dsn(path, "journal_mode(WAL)", "synchronous("+synchronous+")", "foreign_keys(1)"))
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	w.SetMaxOpenConns(1)
	if err := migrate(ctx, w); err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	r, err := sql.Open("sqlite", dsn(path, "query_only(1)"))
	if err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	rd, err := openReaders(ctx, r, max(4, runtime.GOMAXPROCS(0)))
	if err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	wr, err := startWriter(ctx, w)
	if err != nil {
		_ = rd.close()
		_ = w.Close()
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	return &Store{readers: rd, writer: wr}, nil
}

// Close waits for transactions under way, then closes the database.
func (s *Store) Close() error {
	return errors.Join(s.writer.close(), s.readers.close())
}

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

func migrate(ctx context.Context, db *sql.DB) error {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, sub)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	return nil
}

// unique reports whether err says that a row with the same name is there.
func unique(err error) bool {
	return err != nil && strings.Contains(err.Error(), "UNIQUE constraint failed")
}
