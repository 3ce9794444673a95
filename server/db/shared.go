package db

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	maxParticipants = 64 // of a shared transaction
	maxParallel     = 2  // shared transactions of a kind at a time
	// grace is the time for which queries wait for the queries of participants that have not asked
	// yet. One of these may wait for a participant that has asked, so the time is limited.
	grace = time.Millisecond
)

// Joint returns a handle on the same database whose views are shared on PostgreSQL, as
// store.Store.Joint describes.
func (d *DB) Joint() *DB {
	p, ok := d.engine.(*postgres)
	if !ok {
		return d // without round trips, sharing would save nothing
	}
	return &DB{&shared{postgres: p}, d.schema}
}

// shared is a database whose views are shared.
type shared struct {
	*postgres

	mu      sync.Mutex
	running int
	waiting []*participant // while maxParallel transactions are running
}

// view runs fn in a shared transaction, or alone if that fails.
func (x *shared) view(ctx context.Context, fn func(tx *Tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p := &participant{start: make(chan *sharedTx, 1), answered: make(chan error, 1)}
	x.mu.Lock()
	x.waiting = append(x.waiting, p)
	if x.running < maxParallel {
		x.running++
		go x.run()
	}
	x.mu.Unlock()
	if p.tx = <-p.start; p.tx != nil {
		if err := p.run(ctx, fn); !p.failed {
			return err
		}
	}
	return x.postgres.view(ctx, fn)
}

// run starts transactions until no caller waits.
func (x *shared) run() {
	for {
		x.mu.Lock()
		n := min(len(x.waiting), maxParticipants)
		list := slices.Clone(x.waiting[:n])
		x.waiting = slices.Delete(x.waiting, 0, n)
		if n == 0 {
			x.running--
		}
		x.mu.Unlock()
		if n == 0 {
			return
		}
		x.share(list)
	}
}

// share runs participants in one transaction, or alone if it cannot start.
func (x *shared) share(list []*participant) {
	x.postgres.mu.RLock()
	defer x.postgres.mu.RUnlock()
	err := x.connect(context.Background(), "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", func(s *session) {
		tx := &sharedTx{session: s, asking: make(chan *participant, len(list)), done: make(chan struct{}, len(list))}
		tx.run(list)
		list = nil
	})
	if err != nil {
		for _, p := range list {
			p.start <- nil
		}
	}
}

// A sharedTx is a transaction in progress with its participants.
type sharedTx struct {
	*session
	asking chan *participant
	done   chan struct{}
}

// run runs participants until all have finished. It answers their queries when all that have not finished ask, or
// when some have asked for longer than grace.
func (x *sharedTx) run(list []*participant) {
	for _, p := range list {
		p.start <- x
	}
	var asking []*participant
	computing := len(list)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	for computing > 0 || len(asking) > 0 {
		if computing == 0 {
			computing, asking = x.answer(asking), nil
			continue
		}
		var late <-chan time.Time
		if len(asking) > 0 {
			late = timer.C
		}
		select {
		case p := <-x.asking:
			if asking = append(asking, p); len(asking) == 1 {
				timer.Reset(grace)
			}
			computing--
		case <-x.done:
			computing--
		case <-late:
			computing, asking = computing+x.answer(asking), nil
		}
	}
}

// answer asks the queries of participants, and returns the number of these.
func (x *sharedTx) answer(list []*participant) int {
	var asked []*lookup
	for _, p := range list {
		asked = append(asked, p.asked...)
	}
	_, err := x.ask(context.Background(), x.p.combine(asked)...)
	for _, p := range list {
		p.answered <- err
	}
	return len(list)
}

// A participant is a caller of a shared view. It reads, and changes nothing.
type participant struct {
	queries  // nil
	start    chan *sharedTx
	tx       *sharedTx
	asked    []*lookup
	answered chan error
	failed   bool // the transaction has
}

func (p *participant) run(ctx context.Context, fn func(tx *Tx) error) error {
	defer func() { p.tx.done <- struct{}{} }()
	return protect(newTx(context.WithoutCancel(ctx), p), fn)
}

// ask asks queries together with the queries of other participants.
func (p *participant) ask(list []*lookup) error {
	p.asked = list
	p.tx.asking <- p
	err := <-p.answered
	p.failed = err != nil
	return err
}

func (p *participant) query(_ context.Context, query string, args []any, each func(Rows) error) error {
	l := &lookup{text: query, args: args, each: each}
	if err := p.ask([]*lookup{l}); err != nil {
		return err
	}
	return l.err
}

func (p *participant) together(v *View, reads []func() error) error { return together(v, reads, p.ask) }

func (p *participant) trigger(ctx context.Context, name string) (bool, error) {
	return postgresTrigger(ctx, p, name)
}

// damage is found by the server.
func (p *participant) damage(context.Context, string) ([]string, error) { return nil, nil }
