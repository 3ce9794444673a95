package store

import (
	"slices"
	"sync"
	"time"
)

// claimed is how long a result that was sent stays claimed. The snapshots of
// transactions that began before hold it still as unsent.
const claimed = time.Second

// A claimant keeps transactions that run side by side from all sending the same
// result, the first in the queue, and then running again but for one. It is a
// courtesy: what keeps a result from being sent twice is Send.
type claimant struct {
	mu   sync.Mutex
	held map[int64]struct{} // results, by id
}

// claims are those of one transaction.
type claims struct {
	of        *claimant
	held, out []int64 // all, and what was sent of them
}

// take claims what nobody has, and returns it: a shard's own first, so that
// schedulers in several processes seldom meet either.
func (c *claims) take(list []Candidate, sh Shard) []Candidate {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	var own, others []Candidate
	for _, x := range list {
		if _, ok := c.of.held[x.ID]; ok {
			continue
		}
		c.of.held[x.ID] = struct{}{}
		c.held = append(c.held, x.ID)
		if sh.Count > 1 && x.ID%sh.Count != sh.Index {
			others = append(others, x)
		} else {
			own = append(own, x)
		}
	}
	return append(own, others...)
}

// sent keeps a claim beyond the end of the transaction.
func (c *claims) sent(id int64) {
	if c != nil {
		c.out = append(c.out, id)
	}
}

// end gives the claims back.
func (c *claims) end() {
	kept := make(map[int64]struct{}, len(c.out))
	for _, id := range c.out {
		kept[id] = struct{}{}
	}
	c.of.release(slices.DeleteFunc(c.held, func(id int64) bool {
		_, ok := kept[id]
		return ok
	}))
	if len(c.out) > 0 {
		time.AfterFunc(claimed, func() { c.of.release(c.out) })
	}
}

func (c *claimant) release(ids []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		delete(c.held, id)
	}
}
