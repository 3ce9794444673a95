package db

import (
	"context"
	"slices"
	"time"
)

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
