package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// A conn is one connection with its prepared queries, as parsing them takes
// longer than most of them run. It belongs to one goroutine at a time.
type conn struct {
	*sql.Conn
	stmts map[string]*sql.Stmt
}

func newConn(ctx context.Context, db *sql.DB) (*conn, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{c, make(map[string]*sql.Stmt)}, nil
}

func (c *conn) close() error {
	for _, st := range c.stmts {
		_ = st.Close()
	}
	return c.Close()
}

// stmt returns the connection's prepared form of a query.
func (c *conn) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if st, ok := c.stmts[query]; ok {
		return st, nil
	}
	st, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.stmts[query] = st
	return st, nil
}

func (c *conn) exec(ctx context.Context, query string, args []any) (int64, error) {
	st, err := c.stmt(ctx, query) //nolint:sqlclosecheck // kept until close
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (c *conn) query(ctx context.Context, query string, args []any, each func(rows) error) error {
	st, err := c.stmt(ctx, query) //nolint:sqlclosecheck // kept until close
	if err != nil {
		return err
	}
	list, err := st.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer list.Close()
	for list.Next() {
		if err := each(list); err != nil {
			return err
		}
	}
	return list.Err()
}

func (c *conn) insert(ctx context.Context, query string, args []any) (int64, error) {
	st, err := c.stmt(ctx, query) //nolint:sqlclosecheck // kept until close
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(ctx, args...)
	if err != nil && strings.Contains(err.Error(), "UNIQUE constraint failed") {
		return 0, ErrExists
	}
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// deferExec has nothing to gain where there is no way to the database.
func (c *conn) deferExec(string, []any, bool) bool { return false }

// together has nothing to gain where there is no way to the database.
func (c *conn) together(_ *Tx, looks []func() error) error { return inTurn(looks) }

func inTurn(looks []func() error) error {
	for _, look := range looks {
		if err := look(); err != nil {
			return err
		}
	}
	return nil
}

// each runs the prepared change again and again: with the database in the process, one
// statement for all takes as long for ten rows and longer for one.
func (c *conn) each(ctx context.Context, query string, list [][]any) (met int64, err error) {
	for _, args := range list {
		n, err := c.exec(ctx, query, args)
		if met += n; err != nil {
			return met, err
		}
	}
	return met, nil
}

func (c *conn) deferEach(string, [][]any, bool) bool { return false }

// hold has nothing to do, as there is one writer at a time.
func (c *conn) hold(context.Context, string, []int64) error { return nil }

// lockFiles has nothing to do, as there is one writer at a time.
func (c *conn) lockFiles(context.Context) error { return nil }

func (c *conn) trigger(ctx context.Context, name string) (there bool, err error) {
	err = c.query(ctx, "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = $1", []any{name},
		func(rows) error { there = true; return nil })
	return there, err
}

func (c *conn) damage(ctx context.Context) (found []string, err error) {
	err = c.query(ctx, "PRAGMA quick_check(5)", nil, func(r rows) error {
		s, err := scanString(r)
		if s != "ok" {
			found = append(found, s)
		}
		return err
	})
	return found, err
}

// readers are the connections for looking. Whoever holds one needs no second,
// so that any number of looks at a time gets on.
type readers struct {
	db   *sql.DB
	free chan *conn
	n    int
}

func openReaders(ctx context.Context, db *sql.DB, n int) (*readers, error) {
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	r := &readers{db: db, free: make(chan *conn, n)}
	for ; r.n < n; r.n++ {
		c, err := newConn(ctx, db)
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.free <- c
	}
	return r, nil
}

// close waits for looks under way.
func (r *readers) close() error {
	for range r.n {
		_ = (<-r.free).close()
	}
	r.n = 0
	return r.db.Close()
}
