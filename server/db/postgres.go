package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

const (
	// connections is the maximum number of a process. By default PostgreSQL
	// allows a hundred in all, and a project may run a dozen processes.
	connections = 8
	idle        = time.Minute
	connectTime = 10 * time.Second

	conflictTries = 30 // of a transaction that conflicts with another
	lostTries     = 3  // of a transaction whose connection broke
	maxPause      = 100 * time.Millisecond
)

// postgres is a database of a PostgreSQL server. Transactions run side by side,
// each on a snapshot (repeatable read). Of two that change the same row, the
// later one is undone and run again on the result of the earlier one, so that a
// function given to Update sees the same as if it ran alone with the rows that
// it changes.
type postgres struct {
	db      *sql.DB
	queries sync.Map // in PostgreSQL's words, by query
	applier applier
	grace   time.Duration
	life    context.Context // of all transactions
	end     context.CancelFunc

	mu     sync.RWMutex // transactions lock it for reading
	closed bool
}

func openPostgres(ctx context.Context, url string, s Schema) (*postgres, error) {
	c, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	new(lineage).watch(c)
	db := stdlib.OpenDB(*c)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(idle)
	// Processes that start together migrate one after the other.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err == nil {
		err = s.migrate(ctx, goose.DialectPostgres, db, goose.WithSessionLocker(locker))
	}
	if err == nil {
		err = s.enforce(ctx, db, []string{"BEGIN", "LOCK TABLE " + s.TriggerTable}, append([]string{must}, s.PostgresTriggers()...))
	}
	if err != nil {
		_ = db.Close()
		if refusedSettings(err) {
			err = ErrPooler
		}
		return nil, away(err)
	}
	p := &postgres{db: db, grace: grace}
	p.life, p.end = context.WithCancel(context.WithoutCancel(ctx))
	p.applier.p = p
	return p, nil
}

// parseURL parses the URL of a database. Its errors have the URL without its password.
func parseURL(url string) (*pgx.ConnConfig, error) {
	c, err := pgx.ParseConfig(url)
	if err == nil && c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectTime
	}
	if err == nil {
		c.DialFunc = dial
	}
	return c, err
}

func (p *postgres) close() error {
	late := time.AfterFunc(p.grace, p.end)
	defer p.end()
	defer late.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return p.db.Close()
}

func (p *postgres) view(ctx context.Context, fn func(tx *Tx) error) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	ctx, end := p.within(ctx)
	defer end()
	for try := 1; ; try++ {
		var err error
		var s *session
		broken := p.connect(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", func(new *session) {
			s = new
			err = fn(newTx(ctx, s))
		})
		if s != nil && s.blank && lost(s.failed) {
			broken = s.failed // fn has read nothing
		}
		switch {
		case broken == nil:
			return err
		case !lost(broken):
			return fmt.Errorf("read database: %w", broken)
		case try == lostTries:
			return fmt.Errorf("%w: %w", ErrUnreachable, broken)
		}
	}
}

func (p *postgres) update(ctx context.Context, fn func(tx *Tx) error) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	atOnce := false
	for try := 1; ; try++ {
		err, again := p.attempt(ctx, fn, atOnce)
		switch {
		case again == nil:
			return causeOf(err)
		case !conflict(again) && !lost(again):
			atOnce = true
			continue
		case lost(again) && try >= lostTries:
			return fmt.Errorf("%w; nothing was changed: %w", ErrUnreachable, errors.Join(again, err))
		case try >= conflictTries:
			return fmt.Errorf("%w: %w", ErrBusy, again)
		}
		pauseFor(try)
	}
}

func (p *postgres) apply(_ context.Context, list []change) error { return p.applier.apply(list) }

// pauseFor waits for a random time, so that two transactions do not conflict again.
func pauseFor(try int) {
	time.Sleep(rand.N(min(time.Millisecond<<min(try, 10), maxPause))) //nolint:forbidigo // as above
}

// attempt runs fn once. again is the reason for running it again, after which nothing was
// changed: a conflict, a lost connection, or the error of a postponed change.
func (p *postgres) attempt(ctx context.Context, fn func(tx *Tx) error, atOnce bool) (err, again error) {
	broken := p.connect(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ", func(s *session) {
		s.atOnce = atOnce
		ctx, end := p.outliving(ctx)
		defer end()
		if err = protect(newTx(ctx, s), fn); err == nil {
			err = s.commit(ctx)
		}
		if again = s.again; err != nil && ctx.Err() != nil && !errors.Is(err, ErrUnreachable) {
			err, again = fmt.Errorf("%w; nothing was changed: %w", ErrUnreachable, err), nil
		}
	})
	if lost(broken) {
		return nil, broken
	}
	if broken != nil {
		return broken, nil
	}
	return err, again
}

// connect runs fn with a transaction, which begins with its first query. Changes that fn
// does not commit are undone.
func (p *postgres) connect(ctx context.Context, begin string, fn func(s *session)) error {
	if p.closed {
		return ErrClosed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c, err := p.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Raw(func(driver any) error {
		s := &session{p: p, conn: driver.(*stdlib.Conn).Conn(), begin: begin, blank: true}
		defer s.end()
		fn(s)
		return nil
	})
}

// dialect turns a query, which is written for SQLite, into PostgreSQL's words.
var dialect = strings.NewReplacer(
	"+$", "$", // see Statement
	"/* FOR UPDATE */", "FOR UPDATE",
	// The rows of an array are found by an index, whatever the planner assumes of the table.
	"IN (SELECT value FROM json_each($1))", "= ANY (translate($1, '[]', '{}')::bigint[])",
	"IN (SELECT value FROM json_each($2))", "= ANY (translate($2, '[]', '{}')::bigint[])",
	"IN (SELECT value /* text */ FROM json_each($1))", "= ANY (ARRAY(SELECT json_array_elements_text($1::json)))",
)

// prepare returns a query in PostgreSQL's words.
func (p *postgres) prepare(query string) string {
	if q, ok := p.queries.Load(query); ok {
		return q.(string)
	}
	q := dialect.Replace(query)
	p.queries.Store(query, q)
	return q
}

// clean makes texts fit for PostgreSQL, which accepts only UTF-8 without zero bytes. Texts from
// computers may contain any bytes.
func clean(args []any) []any {
	for i, a := range args {
		if s, ok := a.(string); ok && (strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s)) {
			args[i] = strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?")
		}
	}
	return args
}

// conflict reports whether a transaction failed because of another, by a
// serialization failure or a deadlock.
func conflict(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "40001" || e.Code == "40P01")
}

// lost reports whether the connection is lost: the server is stopping or starting, or does not
// answer.
func lost(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(e.Code, "57P") || strings.HasPrefix(e.Code, "08") || e.Code == "53300"
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	e, ofNet := errors.AsType[net.Error](err)
	if _, bare := e.(syscall.Errno); bare { // every Errno is a net.Error, also if a file is missing
		ofNet = false
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || ofNet && !errors.Is(err, context.Canceled)
}

// away adds the remedy to the error of a server that does not answer when a command opens the database.
// Of all errors of pgx about one attempt, which repeat the address, it keeps the one of the network.
func away(err error) error {
	at, ok := errors.AsType[*net.OpError](err)
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); !ok || !connecting {
		return err
	}
	return fmt.Errorf("%w: start PostgreSQL, or correct its address in --db or server.toml (%w)", ErrUnreachable, at)
}

// causeOf adds the cause to an error of PostgreSQL: the disk of its server, or a name that is taken.
func causeOf(err error) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case ok && e.Code == "23505":
		return fmt.Errorf("%w (%w)", ErrExists, err)
	case ok && e.Code == "53100":
		return fmt.Errorf("%w (%w)", ErrFull, err)
	case ok && e.Code == "58030":
		return fmt.Errorf("%w (%w)", ErrDisk, err)
	}
	return err
}

// translation turns a migration, which is written for SQLite, into PostgreSQL's words.
var translation = strings.NewReplacer(
	"INTEGER PRIMARY KEY AUTOINCREMENT", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
	"INTEGER PRIMARY KEY", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
	"INTEGER", "BIGINT",
	"REAL", "DOUBLE PRECISION",
	") STRICT, WITHOUT ROWID;", ");",
	") STRICT;", ");",
)

// Unreachable reports whether an error means that a database's server does not answer, or not yet, so
// that it may do so later. It returns false for a file.
func Unreachable(err error) bool { return err != nil && lost(err) }
