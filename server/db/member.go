package db

import (
	"context"
	"errors"
)

// A turn is what a member is to do next.
type turn int

const (
	begin turn = iota
	goAlone
	over
)

// errApart ends a function that cannot share its transaction.
var errApart = errors.New("needs a transaction of its own")

// A member is one of the callers who share a transaction. What it changes waits until all
// are done.
type member struct {
	p    *postgres
	next chan turn
	left chan struct{} // closed when its caller is gone
	share
}

// A share is what a member has of one transaction.
type share struct {
	crowd    *crowd
	asked    []*answer
	answered chan error
	changes  pending
	apart    bool // it needs a transaction of its own
	err      error
}

func (m *member) run(ctx context.Context, fn func(tx *Tx) error) {
	defer func() { m.crowd.done <- m }()
	m.err = protect(newTx(context.WithoutCancel(ctx), m), fn)
}

// ask has queries asked with those of others.
func (m *member) ask(list []*answer) error {
	if m.apart || len(m.changes.list) > 0 { // which the queries would have to see
		return m.leave()
	}
	m.asked = list
	m.crowd.asking <- m
	return <-m.answered
}

func (m *member) leave() error {
	m.apart = true
	return errApart
}

func (m *member) query(_ context.Context, query string, args []any, each func(Rows) error) error {
	a := &answer{queries: m, text: query, args: args}
	if err := m.ask([]*answer{a}); err != nil {
		return err
	}
	return a.tell(each)
}

func (m *member) together(t *View, looks []func() error) error { return together(t, looks, m.ask) }

func (m *member) deferExec(query string, args []any, one bool) bool {
	return m.deferEach(query, [][]any{args}, one)
}

func (m *member) deferEach(query string, list [][]any, one bool) bool {
	if !m.apart {
		m.changes.add(m.p, query, one, list)
	}
	return true
}

// places are the rows that a member changes. Those that it adds under a new id are nobody
// else's. It returns false if its changes may concern any row, or if it would not be seen
// that one was changed by another transaction since it was read.
func (m *member) places() (list []place, ok bool) {
	for _, c := range m.changes.list {
		s := m.p.shape(c.query)
		for _, args := range c.rows {
			switch {
			case !uniform(args), s.keys == 0 && !s.free, !c.one && !s.adds:
				return nil, false
			case s.keys > 0:
				list = append(list, placeOf(s, args))
			}
		}
	}
	return list, true
}

func (m *member) hold(_ context.Context, query string, ids []int64) error {
	return m.ask([]*answer{{text: query, held: ids}})
}

func (m *member) exec(context.Context, string, []any) (int64, error)   { return 0, m.leave() }
func (m *member) insert(context.Context, string, []any) (int64, error) { return 0, m.leave() }
func (m *member) each(context.Context, string, [][]any) (int64, error) { return 0, m.leave() }
func (m *member) lock(context.Context, string) error                   { return m.leave() }
func (m *member) trigger(context.Context, string) (bool, error)        { return false, m.leave() }
func (m *member) damage(context.Context, string) ([]string, error)     { return nil, nil }
