package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A session is one transaction on a connection to PostgreSQL. A round trip to the
// server takes longer than most queries. Therefore changes wait for the next query whose
// answer is needed, and are sent with it, the last ones with the COMMIT.
//
// Such a change may fail, or affect no row, after its caller has continued as if it had
// succeeded. Then the transaction is undone, and runs again with each change made at once.
type session struct {
	p       *postgres
	conn    *pgx.Conn
	begin   string  // "" once it has started
	waiting pending // changes
	atOnce  bool    // changes do not wait
	blank   bool    // nothing was read or changed
	failed  error   // the error that ended the transaction
	again   error   // the reason for running it again
}

// end rolls back a transaction that was not committed.
func (s *session) end() {
	if s.conn.IsClosed() || s.conn.PgConn().TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectTime)
	defer cancel()
	if _, err := s.conn.Exec(ctx, "ROLLBACK"); err != nil {
		_ = s.conn.Close(ctx)
	}
}

// A request is a query with a function that gets every row.
type request struct {
	query string
	args  []any
	each  func(pgx.Rows) error
}

// send sends the waiting changes and then queries. It returns the tag of the last query.
func (s *session) send(ctx context.Context, list ...request) (tag pgconn.CommandTag, err error) {
	if s.failed != nil {
		return tag, s.failed
	}
	b := new(pgx.Batch)
	if s.begin != "" {
		b.Queue(s.begin)
		s.begin = ""
	}
	s.waiting.batch(b)
	waited := b.Len()
	for _, q := range list {
		b.Queue(q.query, q.args...)
	}
	answers := s.conn.SendBatch(ctx, b)
	for ; waited > 0 && err == nil; waited-- {
		_, err = answers.Exec()
	}
	late := err != nil && !s.atOnce
	for i := 0; i < len(list) && err == nil; i++ {
		tag, err = read(answers, list[i].each)
	}
	if closing := answers.Close(); err == nil {
		err = closing
	}
	if err == nil {
		s.blank = false
		return tag, nil
	}
	// After an error, PostgreSQL accepts nothing in the transaction except its end.
	s.failed = err
	if late || conflict(err) || lost(err) {
		s.again = err
	}
	return tag, err
}

func ignore(pgx.Rows) error { return nil }

func read(answers pgx.BatchResults, each func(pgx.Rows) error) (tag pgconn.CommandTag, err error) {
	rows, err := answers.Query()
	if err != nil {
		return tag, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return tag, err
		}
	}
	return rows.CommandTag(), rows.Err()
}

// commit makes everything durable.
func (s *session) commit(ctx context.Context) error {
	if s.failed != nil { // and fn ignored it
		return fmt.Errorf("commit: %w", s.failed)
	}
	if s.blank && len(s.waiting.list) == 0 {
		return nil // fn did nothing
	}
	tag, err := s.send(ctx, request{"COMMIT", nil, nil})
	switch {
	case err == nil && tag.String() == "COMMIT":
		return nil
	case err == nil:
		return fmt.Errorf("commit: the server answers %s", tag)
	case (lost(err) || ctx.Err() != nil) && !pgconn.SafeToRetry(err):
		s.again = nil
		return fmt.Errorf("commit: %w, and it is unknown whether the change was made: %w", ErrUnreachable, err)
	}
	return fmt.Errorf("commit: %w", err)
}

func (s *session) postpone(st *Statement, list [][]any, one bool) bool {
	if s.atOnce && st.text != "" {
		return false
	}
	s.waiting.add(st, one, list)
	return true
}

func (s *session) exec(ctx context.Context, query string, args []any) (int64, error) {
	tag, err := s.send(ctx, request{s.p.prepare(query), clean(args), ignore})
	return tag.RowsAffected(), err
}

func (s *session) ask(ctx context.Context, list []Question) error {
	requests := make([]request, len(list))
	for i, q := range list {
		requests[i] = request{s.p.prepare(q.query), clean(q.args), func(r pgx.Rows) error { return q.each(pgRows{r}) }}
	}
	_, err := s.send(ctx, requests...)
	return err
}

func (s *session) insert(ctx context.Context, st *Statement, list [][]any) (ids []int64, err error) {
	forms := st.postgres(list[0])
	text, args := forms.id, clean(list[0])
	if len(list) > 1 {
		text, args = forms.eachID, transposed(list)
	}
	_, err = s.send(ctx, request{text, args, func(r pgx.Rows) error {
		var id int64
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	}})
	if err == nil && len(ids) < len(list) {
		err = ErrExists
	}
	return ids, err
}

// lock runs before the transaction's snapshot is taken.
func (s *session) lock(ctx context.Context, table string) error {
	_, err := s.exec(ctx, "LOCK TABLE "+table+" IN SHARE ROW EXCLUSIVE MODE", nil)
	return err
}

func (s *session) trigger(ctx context.Context, name string) (there bool, err error) {
	const query = "SELECT 1 FROM pg_trigger WHERE tgname = $1 AND tgenabled <> 'D'"
	err = s.ask(ctx, []Question{{query, []any{name}, func(Rows) error { there = true; return nil }}})
	return there, err
}

// damage is found by the server.
func (s *session) damage(context.Context, string) ([]string, error) { return nil, nil }

type pgRows struct{ pgx.Rows }

func (r pgRows) Columns() (names []string, err error) {
	for _, f := range r.FieldDescriptions() {
		names = append(names, f.Name)
	}
	return names, nil
}
