package db

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
)

// busyTime is the maximum time for which a connection waits for others, which may be writers of other
// processes that insert in bulk.
const busyTime = time.Minute

// A conn is one connection to SQLite with its prepared queries, as parsing them takes
// longer than most of them run. It belongs to one goroutine at a time.
type conn struct {
	*sqlite.Conn
	stmts map[string]*stmt
}

// A stmt is a prepared query.
type stmt struct {
	*sqlite.Stmt
	parameters []int // in the database's order: the index of each in the arguments
	running    bool
}

// openConn opens a database that exists and sets pragmas.
func openConn(path string, pragmas ...string) (*conn, error) {
	flags := sqlite.OpenReadWrite
	if strings.HasPrefix(path, "file:") {
		flags |= sqlite.OpenURI
	}
	db, err := sqlite.OpenConn(path, flags)
	if err != nil {
		return nil, err
	}
	db.SetBusyTimeout(busyTime)
	c := &conn{db, make(map[string]*stmt)}
	for _, p := range pragmas {
		if _, err := c.exec(context.Background(), "PRAGMA "+p, nil); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// stmt returns the connection's prepared form of a query.
func (c *conn) stmt(query string) (*stmt, error) {
	if st, ok := c.stmts[query]; ok {
		return st, nil
	}
	prepared, err := c.Prepare(query)
	if err != nil {
		return nil, err
	}
	st := &stmt{Stmt: prepared, parameters: make([]int, prepared.BindParamCount())}
	for i := range st.parameters {
		// They are named $1, $2 and so on, or each is a plain question mark.
		st.parameters[i] = i
		if name := prepared.BindParamName(i + 1); name != "" {
			n, err := strconv.Atoi(name[1:])
			if err != nil || n < 1 {
				return nil, fmt.Errorf("parameter %s has no number", name)
			}
			st.parameters[i] = n - 1
		}
	}
	c.stmts[query] = st
	return st, nil
}

// query calls each for every row, if it is not nil. It returns ErrExists for a row with the same unique name.
func (c *conn) query(ctx context.Context, query string, args []any, each func(Rows) error) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	defer func() {
		switch code := sqlite.ErrCode(err); {
		case code == sqlite.ResultInterrupt && ctx.Err() != nil:
			err = context.Cause(ctx)
		case code == sqlite.ResultConstraintUnique || code == sqlite.ResultConstraintPrimaryKey:
			err = ErrExists
		}
	}()
	st, err := c.stmt(query)
	if err != nil {
		return err
	}
	if st.running {
		panic("db: a query within itself: " + query)
	}
	st.running = true
	defer func() {
		st.running = false
		_ = st.Reset() // it returns the error of the last step again
	}()
	if err := st.bind(args); err != nil {
		return err
	}
	for {
		if there, err := st.Step(); err != nil || !there {
			return err
		}
		if each == nil {
			continue
		}
		if err := each(sqliteRow{st.Stmt}); err != nil {
			return err
		}
	}
}

func (st *stmt) bind(args []any) error {
	for i, at := range st.parameters {
		if at >= len(args) {
			return fmt.Errorf("parameter %d has no argument", at+1)
		}
		switch v := plain(args[at]).(type) {
		case int64:
			st.BindInt64(i+1, v)
		case float64:
			st.BindFloat(i+1, v)
		case string:
			st.BindText(i+1, v)
		}
	}
	return nil
}

func (c *conn) exec(ctx context.Context, query string, args []any) (int64, error) {
	if err := c.query(ctx, query, args, nil); err != nil {
		return 0, err
	}
	return int64(c.Changes()), nil
}

func (c *conn) insert(ctx context.Context, s *Statement, list [][]any) (ids []int64, err error) {
	for _, args := range list {
		if err := c.query(ctx, s.text, args, nil); err != nil {
			return ids, err
		}
		ids = append(ids, c.LastInsertRowID())
	}
	return ids, nil
}

func (c *conn) ask(ctx context.Context, list []Question) error {
	for _, q := range list {
		if err := c.query(ctx, q.query, q.args, q.each); err != nil {
			return err
		}
	}
	return nil
}

// Without round trips, postpone would save nothing.
func (c *conn) postpone(s *Statement, _ [][]any, _ bool) bool { return s.text == "" }

// lock does nothing, since there is one writer at a time.
func (c *conn) lock(context.Context, string) error { return nil }

func (c *conn) trigger(ctx context.Context, name string) (there bool, err error) {
	err = c.query(ctx, "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = $1", []any{name},
		func(Rows) error { there = true; return nil })
	return there, err
}

func (c *conn) damage(ctx context.Context, table string) (found []string, err error) {
	what := "5" // findings
	if table != "" {
		what = `"` + strings.ReplaceAll(table, `"`, `""`) + `"`
	}
	err = c.query(ctx, "PRAGMA quick_check("+what+")", nil, func(r Rows) error {
		s, err := ScanString(r)
		if s != "ok" {
			found = append(found, s)
		}
		return err
	})
	return found, err
}

// readers are the connections for views. A view needs only one, so that any number of views
// makes progress. The one that was used last is used next: it has read the schema.
type readers struct {
	n    int
	free chan struct{} // one for each idle connection

	mu   sync.Mutex
	idle []*conn
}

// openReaders opens n connections.
func openReaders(path string, n int) (*readers, error) {
	r := &readers{free: make(chan struct{}, n)}
	for ; r.n < n; r.n++ {
		c, err := openConn(path, "query_only(1)")
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.put(c)
	}
	return r, nil
}

// take returns a connection for a value that was received from free.
func (r *readers) take() *conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.idle) - 1
	c := r.idle[last]
	r.idle = r.idle[:last]
	return c
}

// with calls fn with the connection that the next view uses.
func (r *readers) with(fn func(c *conn)) {
	<-r.free
	c := r.take()
	defer r.put(c)
	fn(c)
}

func (r *readers) put(c *conn) {
	r.mu.Lock()
	r.idle = append(r.idle, c)
	r.mu.Unlock()
	r.free <- struct{}{}
}

// close waits for views in progress.
func (r *readers) close() (err error) {
	for ; r.n > 0; r.n-- {
		<-r.free
		err = errors.Join(err, r.take().Close())
	}
	return err
}
