package db

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	maxParticipants = 64 // of a shared transaction
	maxParallel     = 2  // transactions at a time, shared or not
	sharedTries     = 5  // of a shared transaction that conflicts with another
	// maxAlone is the maximum number of participants that each run alone after a change of one of
	// them failed. More participants are divided into two transactions.
	maxAlone = 3
	// grace is the time for which queries wait for the queries of participants that have not asked
	// yet. One of these may wait for a participant that has asked, so the time is limited.
	grace = time.Millisecond
)

// Joint returns a handle on the same database whose transactions are shared on PostgreSQL, as
// store.Store.Joint describes.
func (d *DB) Joint() *DB {
	p, ok := d.engine.(*postgres)
	if !ok {
		return d // its one writer does the same
	}
	return &DB{&shared{postgres: p, views: queue{p: p}, updates: queue{p: p, changes: true}}, d.schema}
}

// shared is a database whose transactions are shared.
type shared struct {
	*postgres
	views, updates queue
}

func (s *shared) view(ctx context.Context, fn func(tx *Tx) error) error {
	return s.views.enter(ctx, fn, s.postgres.view)
}

func (s *shared) update(ctx context.Context, fn func(tx *Tx) error) error {
	return s.updates.enter(ctx, fn, s.postgres.update)
}

// A queue has the callers that wait while maxParallel transactions are running.
type queue struct {
	p       *postgres
	changes bool

	mu      sync.Mutex
	running int
	waiting []*participant
}

// enter runs fn in a shared transaction, or by alone.
func (q *queue) enter(ctx context.Context, fn func(tx *Tx) error, alone func(context.Context, func(tx *Tx) error) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p := &participant{next: make(chan signal, 1), left: make(chan struct{})}
	defer close(p.left)
	q.mu.Lock()
	q.waiting = append(q.waiting, p)
	if q.running < maxParallel {
		q.running++
		go q.run()
	}
	q.mu.Unlock()
	for {
		switch <-p.next {
		case start:
			p.run(ctx, fn)
		case runAlone:
			return alone(ctx, fn)
		case finished:
			return p.err
		}
	}
}

// run starts transactions until no caller waits.
func (q *queue) run() {
	for {
		q.mu.Lock()
		n := min(len(q.waiting), maxParticipants)
		list := slices.Clone(q.waiting[:n])
		q.waiting = slices.Delete(q.waiting, 0, n)
		if n == 0 {
			q.running--
		}
		q.mu.Unlock()
		switch {
		case n == 0:
			return
		case n == 1 && !q.changes:
			list[0].next <- runAlone
			<-list[0].left
		default:
			q.share(list)
		}
	}
}

// share runs participants in one transaction and signals the outcome to each.
func (q *queue) share(list []*participant) {
	for try := 1; ; try++ {
		again, failed := q.attempt(list)
		if n := len(failed); n > maxAlone {
			q.share(failed[:n/2])
			q.share(failed[n/2:])
		} else {
			signalAll(failed, runAlone)
		}
		if len(again) == 0 {
			return
		}
		if try == sharedTries {
			signalAll(again, runAlone)
			return
		}
		list = again
		pauseFor(try)
	}
}

// attempt runs participants in one transaction. It returns participants that should try again after
// a conflict with another transaction, and participants with a failed change. It signals the
// outcome to the others.
func (q *queue) attempt(list []*participant) (again, failed []*participant) {
	q.p.mu.RLock()
	defer q.p.mu.RUnlock()
	mode := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	if q.changes {
		mode = "BEGIN ISOLATION LEVEL READ COMMITTED"
	}
	err := q.p.connect(context.Background(), mode, func(s *session) {
		tx := &sharedTx{session: s, asking: make(chan *participant, len(list)), done: make(chan *participant, len(list))}
		changed := tx.run(list, q.changes)
		list = nil
		if len(changed) == 0 {
			return
		}
		reading := s.failed != nil
		if !reading {
			changed = tx.commit(changed)
		}
		switch {
		case s.failed == nil || !reading && s.again == nil: // in the latter case it may have been committed
			signalAll(changed, finished)
		case s.again != nil && conflict(s.again):
			again = changed
		default:
			failed = changed
		}
	})
	if err != nil {
		signalAll(list, runAlone)
	}
	return again, failed
}

func signalAll(list []*participant, s signal) {
	for _, p := range list {
		p.next <- s
	}
}
