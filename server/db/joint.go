package db

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// maxJoint bounds how many callers share a transaction.
	maxJoint = 64
	// sideBySide is how many transactions, shared or not, are under way at a time; who comes
	// later waits.
	sideBySide = 2
	// fewAlone is how many each get a transaction of their own where one of them failed.
	fewAlone = 3
	// jointTries is how often a shared transaction is tried that met another.
	jointTries = 5
	// grace is how long queries wait for those of callers that are still thinking. One of
	// them may wait for another that asks already, so it has to end.
	grace = time.Millisecond
)

// Joint returns a view of the same database for those who make many small transactions
// side by side. On PostgreSQL, where each statement has its price whatever it does, such
// as come while others are under way share one: they ask their queries together, one
// statement for all who ask the same, and are made durable together.
//
// In View that makes no difference. In Update each query sees what other transactions have
// made durable when it is asked, so that a function first holds the rows by which it decides
// (HoldHost, HoldWorkunits) and then reads them. It shares as long as it reads before it changes
// anything, asks for the outcome of no change, and changes what nobody else changes, each row
// on the condition that it is there and as it should be. Otherwise it is run again, in a
// transaction of its own as with any Store.
func (d *DB) Joint() *DB {
	p, ok := d.engine.(*postgres)
	if !ok {
		return d // its one writer does the same
	}
	return &DB{&joint{postgres: p, views: lobby{p: p}, updates: lobby{p: p, changes: true}}, d.schema}
}

// A joint is a database on which transactions share.
type joint struct {
	*postgres
	views, updates lobby
}

func (j *joint) view(ctx context.Context, fn func(tx *Tx) error) error {
	return j.views.enter(ctx, fn, j.postgres.view)
}

func (j *joint) update(ctx context.Context, fn func(tx *Tx) error) error {
	return j.updates.enter(ctx, fn, j.postgres.update)
}

// A lobby is where transactions wait while as many as may be are under way, to go together.
type lobby struct {
	p       *postgres
	changes bool

	mu       sync.Mutex
	underWay int
	waiting  []*member
}

// enter runs fn with others, or with alone.
func (l *lobby) enter(ctx context.Context, fn func(tx *Tx) error, alone func(context.Context, func(tx *Tx) error) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m := &member{p: l.p, next: make(chan turn, 1), left: make(chan struct{})}
	defer close(m.left)
	l.mu.Lock()
	l.waiting = append(l.waiting, m)
	if l.underWay < sideBySide {
		l.underWay++
		go l.run()
	}
	l.mu.Unlock()
	for {
		switch <-m.next {
		case begin:
			m.run(ctx, fn)
		case goAlone:
			return alone(ctx, fn)
		case over:
			return m.err
		}
	}
}

// run has those who wait go, until nobody does.
func (l *lobby) run() {
	for {
		l.mu.Lock()
		n := min(len(l.waiting), maxJoint)
		list := slices.Clone(l.waiting[:n])
		l.waiting = slices.Delete(l.waiting, 0, n)
		if n == 0 {
			l.underWay--
		}
		l.mu.Unlock()
		switch {
		case n == 0:
			return
		case n == 1 && !l.changes:
			list[0].next <- goAlone
			<-list[0].left
		default:
			l.together(list)
		}
	}
}

// together runs members in one transaction and tells each what became of it.
func (l *lobby) together(members []*member) {
	for try := 1; ; try++ {
		again, failed := l.attempt(members)
		if n := len(failed); n > fewAlone { // a change of one of them
			l.together(failed[:n/2])
			l.together(failed[n/2:])
		} else {
			tell(failed, goAlone)
		}
		if len(again) == 0 {
			return
		}
		if try == jointTries {
			tell(again, goAlone)
			return
		}
		members = again
		pauseFor(try)
	}
}

// attempt runs members in one transaction. It returns those who should try again, as it met
// another, and those of whom one failed, and tells the others what became of them.
func (l *lobby) attempt(members []*member) (again, failed []*member) {
	l.p.mu.RLock()
	defer l.p.mu.RUnlock()
	mode := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	if l.changes {
		mode = "BEGIN ISOLATION LEVEL READ COMMITTED"
	}
	err := l.p.connect(context.Background(), mode, func(s *session) {
		c := &crowd{session: s, asking: make(chan *member, len(members)), done: make(chan *member, len(members))}
		left := c.run(members, l.changes)
		members = nil
		if len(left) == 0 {
			return
		}
		reading := s.failed != nil
		if !reading {
			left = c.commit(left)
		}
		switch {
		case s.failed == nil || !reading && s.again == nil: // then it may have been made or not
			tell(left, over)
		case s.again != nil && conflict(s.again):
			again = left
		default:
			failed = left
		}
	})
	if err != nil {
		tell(members, goAlone)
	}
	return again, failed
}

func tell(members []*member, what turn) {
	for _, m := range members {
		m.next <- what
	}
}
