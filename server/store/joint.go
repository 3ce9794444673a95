package store

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
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
func (s *Store) Joint() *Store {
	p, ok := s.db.(*postgres)
	if !ok {
		return s // has one writer, which does the like
	}
	return &Store{db: &joint{postgres: p, views: lobby{p: p}, updates: lobby{p: p, changes: true}}, shard: s.shard}
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

// A crowd is a transaction under way with all who share it.
type crowd struct {
	*session
	asking, done chan *member
}

// run has members run until all are done, and answers what they ask: when all who are not
// done ask, or some have asked for long enough. It returns those who have something to make
// durable, and tells the others what became of them.
func (c *crowd) run(members []*member, changes bool) (left []*member) {
	for _, m := range members {
		m.share = share{crowd: c, answered: make(chan error, 1)}
		m.next <- begin
	}
	var list []*member // who ask
	thinking := len(members)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	for thinking > 0 || len(list) > 0 {
		if thinking == 0 {
			thinking, list = c.answer(list), nil
			continue
		}
		var late <-chan time.Time
		if len(list) > 0 {
			late = timer.C
		}
		select {
		case m := <-c.asking:
			if list = append(list, m); len(list) == 1 {
				timer.Reset(grace)
			}
			thinking--
		case m := <-c.done:
			thinking--
			switch {
			case m.apart:
				m.next <- goAlone
			case c.failed == nil && (!changes || m.err != nil):
				m.next <- over
			default:
				left = append(left, m)
			}
		case <-late:
			thinking, list = thinking+c.answer(list), nil
		}
	}
	return left
}

// answer asks the queries of members, and returns how many there are.
func (c *crowd) answer(list []*member) int {
	var asked []*answer
	for _, m := range list {
		asked = append(asked, m.asked...)
	}
	_, err := c.ask(context.Background(), c.p.questions(asked))
	for _, m := range list {
		m.answered <- err
	}
	return len(list)
}

// questions are queries for all that is asked: one for all who ask the same. Rows are held
// first.
func (p *postgres) questions(asked []*answer) (list []question) {
	alike := make(map[string][]*answer)
	var texts []string // in order
	for _, a := range asked {
		if alike[a.text] == nil {
			texts = append(texts, a.text)
		}
		alike[a.text] = append(alike[a.text], a)
	}
	for _, text := range texts {
		if same := alike[text]; same[0].held != nil {
			var ids []int64
			for _, a := range same {
				ids = append(ids, a.held...)
			}
			list = append(list, question{p.prepare(text).query, []any{jsonList(ids)}, func(pgx.Rows) error { return nil }})
		}
	}
	for _, text := range texts {
		same := alike[text]
		a, q := same[0], p.prepare(text).query
		switch {
		case a.held != nil:
		case len(same) > 1 && len(a.args) == 0:
			list = append(list, question{q, nil, func(r pgx.Rows) error {
				err := a.keep(r)
				for _, other := range same[1:] {
					other.fields, other.rows = a.fields, a.rows
				}
				return err
			}})
		case len(same) > 1 && uniform(a.args):
			slices.SortStableFunc(same, first) // so that those who lock rows do not wait for each other in a circle
			rows := make([][]any, len(same))
			for i, a := range same {
				rows[i] = a.args
			}
			list = append(list, question{p.prepareMany(text, a.args), columns(rows), func(r pgx.Rows) error {
				return deal(r, same)
			}})
		default:
			for _, a := range same {
				list = append(list, question{q, clean(a.args), a.keep})
			}
		}
	}
	return list
}

// first compares queries by their first argument, if that is a number.
func first(a, b *answer) int {
	x, ok := plain(a.args[0]).(int64)
	y, _ := plain(b.args[0]).(int64)
	if !ok {
		return 0
	}
	return cmp.Compare(x, y)
}

// deal gives a row to whom of those it is for, which its first column says.
func deal(r pgx.Rows, to []*answer) error {
	values := r.RawValues()
	var n int64
	if err := pgx.ScanRow(r.Conn().TypeMap(), r.FieldDescriptions()[:1], values[:1], &n); err != nil {
		return err
	}
	a := to[n-1]
	if a.fields == nil {
		a.fields = slices.Clone(r.FieldDescriptions()[1:])
	}
	a.rows = append(a.rows, copied(values[1:]))
	return nil
}

// commit makes durable what members have done. Those who change what an earlier one does go
// apart. It returns the others.
func (c *crowd) commit(members []*member) (left []*member) {
	taken := make(map[place]bool)
	var list [][]change
	for _, m := range members {
		rows, ok := m.places()
		if !ok || slices.ContainsFunc(rows, func(p place) bool { return taken[p] }) {
			m.next <- goAlone
			continue
		}
		for _, p := range rows {
			taken[p] = true
		}
		left, list = append(left, m), append(list, m.changes.list)
	}
	c.waiting.list = merge(list)
	err := c.session.commit(context.Background())
	for _, m := range left {
		m.err = err
	}
	return left
}

// merge makes one list of several, in which each keeps its order and like changes are one as far as
// can be. No two lists change the same row.
func merge(lists [][]change) (out []change) {
	later := make(map[group]int) // how many lists have it behind their first
	for _, l := range lists {
		for i := 1; i < len(l); i++ {
			later[l[i].group()]++
		}
	}
	for {
		lists = slices.DeleteFunc(lists, func(l []change) bool { return len(l) == 0 })
		if len(lists) == 0 {
			return out
		}
		best := lists[0][0].group()
		for _, l := range lists {
			if g := l[0].group(); later[g] < later[best] {
				best = g
			}
		}
		var all change
		for i, l := range lists {
			if l[0].group() != best {
				continue
			}
			rows := append(all.rows, l[0].rows...)
			all = l[0]
			all.rows = rows
			if lists[i] = l[1:]; len(l) > 1 {
				later[l[1].group()]--
			}
		}
		out = append(out, all)
	}
}

func (c *change) group() group { return group{c.query, c.one} }
