package db

import (
	"context"
	"slices"
	"time"
)

// A sharedTx is a transaction in progress with its participants.
type sharedTx struct {
	*session
	asking, done chan *participant
}

// run runs participants until all have finished, and answers their queries when all that have not
// finished ask, or when some have asked for longer than grace. It returns those with changes to make
// durable, and signals the outcome to the others.
func (x *sharedTx) run(list []*participant, changes bool) (changed []*participant) {
	for _, p := range list {
		p.part = part{tx: x, answered: make(chan error, 1)}
		p.next <- start
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
		case p := <-x.done:
			computing--
			switch {
			case p.alone:
				p.next <- runAlone
			case x.failed == nil && (!changes || p.err != nil):
				p.next <- finished
			default:
				changed = append(changed, p)
			}
		case <-late:
			computing, asking = computing+x.answer(asking), nil
		}
	}
	return changed
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

// commit makes the changes of participants durable. Those that change the same row as an earlier one run
// alone. It returns the others.
func (x *sharedTx) commit(list []*participant) (committed []*participant) {
	taken := make(map[rowKey]bool)
	var changes [][]change
	for _, p := range list {
		keys, ok := p.keys()
		if !ok || slices.ContainsFunc(keys, func(k rowKey) bool { return taken[k] }) {
			p.next <- runAlone
			continue
		}
		for _, k := range keys {
			taken[k] = true
		}
		committed, changes = append(committed, p), append(changes, p.changes.list)
	}
	x.waiting.list = merge(changes)
	err := x.session.commit(context.Background())
	for _, p := range committed {
		p.err = err
	}
	return committed
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
