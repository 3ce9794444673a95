package db

import (
	"context"
	"slices"
	"sync"
)

const (
	maxApplied  = 64 // callers whose changes share a transaction
	maxApplying = 2  // such transactions at a time
)

// An applier makes collected changes durable on PostgreSQL. Changes that arrive while maxApplying transactions
// are running share the next one, in which equal statements are one statement for many rows.
//
// The transactions are READ COMMITTED. A change of a row that another transaction has changed waits for that
// one, and then compares the row as it left it.
type applier struct {
	p *postgres

	mu      sync.Mutex
	running int
	waiting []*applying
}

// applying are the changes of one caller.
type applying struct {
	list []change
	done chan error
}

func (a *applier) apply(list []change) error {
	x := &applying{list, make(chan error, 1)}
	a.mu.Lock()
	a.waiting = append(a.waiting, x)
	if a.running < maxApplying {
		a.running++
		go a.run()
	}
	a.mu.Unlock()
	return <-x.done
}

// run starts transactions until no changes wait.
func (a *applier) run() {
	for {
		a.mu.Lock()
		list := a.take()
		if len(list) == 0 {
			a.running--
		}
		a.mu.Unlock()
		if len(list) == 0 {
			return
		}
		a.share(list)
	}
}

// take removes changes that can share a transaction from those that wait: no two callers change the same row.
func (a *applier) take() (list []*applying) {
	taken, full := make(map[rowKey]bool), false
	a.waiting = slices.DeleteFunc(a.waiting, func(x *applying) bool {
		if full {
			return false
		}
		rows, ok := rowsOf(x.list)
		if !ok && len(list) > 0 || slices.ContainsFunc(rows, func(k rowKey) bool { return taken[k] }) {
			return false
		}
		for _, k := range rows {
			taken[k] = true
		}
		list = append(list, x)
		full = !ok || len(list) == maxApplied
		return true
	})
	return list
}

// rowsOf returns the rows that are changed, except those that are added under a new id. It returns false if any
// row may be affected.
func rowsOf(changes []change) (rows []rowKey, ok bool) {
	for _, c := range changes {
		if c.keys == 0 && !c.free {
			return nil, false
		}
		for _, args := range c.rows {
			if c.keys > 0 {
				rows = append(rows, c.row(args))
			}
		}
	}
	return rows, true
}

// share makes all changes in one transaction. If that fails, it divides them, and finds the one that fails.
func (a *applier) share(list []*applying) {
	if n := len(list); n == 1 {
		list[0].done <- a.p.update(context.Background(), func(tx *Tx) error { return tx.repeat(list[0].list) })
	} else if made, err := a.attempt(list); made {
		for _, x := range list {
			x.done <- err
		}
	} else {
		a.share(list[:n/2])
		a.share(list[n/2:])
	}
}

// attempt makes all changes. It returns false if nothing was changed. err may be that it is unknown whether they
// were made.
func (a *applier) attempt(list []*applying) (made bool, err error) {
	a.p.mu.RLock()
	defer a.p.mu.RUnlock()
	changes := make([][]change, len(list))
	for i, x := range list {
		changes[i] = x.list
	}
	ctx, end := a.p.within(context.Background())
	defer end()
	broken := a.p.connect(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED", func(s *session) {
		s.waiting.list = merge(changes)
		err = s.commit(ctx)
		made = s.again == nil
	})
	return broken == nil && made, err
}

// merge makes one list of several. Each of these keeps its order, and equal statements are one where
// possible. No two lists change the same row.
func merge(lists [][]change) (out []change) {
	later := make(map[group]int) // the number of lists that have it, but not first
	for _, l := range lists {
		for i := 1; i < len(l); i++ {
			later[l[i].group]++
		}
	}
	for {
		lists = slices.DeleteFunc(lists, func(l []change) bool { return len(l) == 0 })
		if len(lists) == 0 {
			return out
		}
		best := lists[0][0].group
		for _, l := range lists {
			if g := l[0].group; later[g] < later[best] {
				best = g
			}
		}
		var all change
		for i, l := range lists {
			if l[0].group != best {
				continue
			}
			rows := append(all.rows, l[0].rows...)
			all = l[0]
			all.rows = rows
			if lists[i] = l[1:]; len(l) > 1 {
				later[l[1].group]--
			}
		}
		out = append(out, all)
	}
}
