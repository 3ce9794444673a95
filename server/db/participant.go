package db

import (
	"context"
	"errors"
)

// A signal is the next step of a participant.
type signal int

const (
	start signal = iota
	runAlone
	finished
)

// errAlone ends a function that cannot share its transaction.
var errAlone = errors.New("needs a transaction of its own")

// A participant is a caller of a shared transaction.
type participant struct {
	next chan signal
	left chan struct{} // closed when its caller has returned
	part
}

// A part is the part of a participant in one attempt at a shared transaction.
type part struct {
	tx       *sharedTx
	asked    []*lookup
	answered chan error
	changes  pending // wait until all participants have finished
	alone    bool    // it needs its own transaction
	err      error
}

func (p *participant) run(ctx context.Context, fn func(tx *Tx) error) {
	defer func() { p.tx.done <- p }()
	p.err = protect(newTx(context.WithoutCancel(ctx), p), fn)
}

// ask asks queries together with the queries of other participants.
func (p *participant) ask(list []*lookup) error {
	if p.alone || len(p.changes.list) > 0 { // the queries would have to see these changes
		return p.leave()
	}
	p.asked = list
	p.tx.asking <- p
	return <-p.answered
}

func (p *participant) leave() error {
	p.alone = true
	return errAlone
}

func (p *participant) query(_ context.Context, query string, args []any, each func(Rows) error) error {
	l := &lookup{queries: p, text: query, args: args}
	if err := p.ask([]*lookup{l}); err != nil {
		return err
	}
	return l.replay(each)
}

func (p *participant) together(v *View, reads []func() error) error { return together(v, reads, p.ask) }

func (p *participant) postpone(s *Statement, list [][]any, one bool) bool {
	if !p.alone {
		p.changes.add(s, one, list)
	}
	return true
}

// keys returns the rows that a participant changes, except those that it adds under a new id. It returns
// false if its changes may affect any row, or if it would not notice that another transaction has changed
// a row since it was read.
func (p *participant) keys() (list []rowKey, ok bool) {
	for _, c := range p.changes.list {
		if c.keys == 0 && !c.free || !c.one && !c.adds {
			return nil, false
		}
		for _, args := range c.rows {
			if c.keys > 0 {
				list = append(list, c.row(args))
			}
		}
	}
	return list, true
}

func (p *participant) hold(_ context.Context, query string, ids []int64) error {
	return p.ask([]*lookup{{text: query, held: ids}})
}

func (p *participant) exec(context.Context, string, []any) (int64, error) { return 0, p.leave() }

func (p *participant) insert(context.Context, *Statement, []any) (int64, error) { return 0, p.leave() }

func (p *participant) lock(context.Context, string) error               { return p.leave() }
func (p *participant) trigger(context.Context, string) (bool, error)    { return false, p.leave() }
func (p *participant) damage(context.Context, string) ([]string, error) { return nil, nil }
