package store

import (
	"math"
	"slices"
	"sync"
	"time"
)

// claimed is how long a result that was sent stays claimed. The snapshots of
// transactions that began before hold it still as unsent.
const claimed = time.Second

// fresh is how long what was read of the queue is handed out.
const fresh = 100 * time.Millisecond

// maxRead bounds how much of the queue is read at a time beyond what is asked for.
const maxRead = 256

// A claimant keeps transactions that run side by side from all sending the same
// result, the first in the queue, and then running again but for one. It reads the
// queue for all of them, the more at a time the faster it is emptied. It is a
// courtesy: what keeps a result from being sent twice is Send.
type claimant struct {
	mu    sync.Mutex
	held  map[int64]struct{} // results, by id
	queue []Candidate        // its head, as it was read since
	since time.Time
	page  int // to read next
}

// claims are those of one transaction.
type claims struct {
	of        *claimant
	held, out []int64 // all, and what was sent of them
	// flush makes the changes that wait. Who reads the queue lets others wait, so he
	// must not wait himself for a row that one of them has changed.
	flush func() error
}

// take claims what nobody has, at least limit if there is so much behind the result
// with the given priority and id, and returns it: a shard's own first, so that
// schedulers in several processes seldom meet either.
func (c *claims) take(priority, after int64, limit int, sh Shard, read func(priority, after int64, limit int) ([]Candidate, error)) ([]Candidate, error) {
	of := c.of
	of.mu.Lock()
	defer of.mu.Unlock()
	limit *= int(max(sh.Count, 1))
	if now := time.Now(); now.Sub(of.since) > fresh {
		of.queue, of.since, of.page = nil, now, 0
	}
	var own, others []Candidate
	flushed := false
	for i := 0; ; {
		for ; i < len(of.queue) && len(own)+len(others) < limit; i++ {
			x := of.queue[i]
			if _, taken := of.held[x.ID]; taken || x.Priority > priority || x.Priority == priority && x.ID <= after {
				continue
			}
			of.held[x.ID] = struct{}{}
			c.held = append(c.held, x.ID)
			if sh.Count > 1 && x.ID%sh.Count != sh.Index {
				others = append(others, x)
			} else {
				own = append(own, x)
			}
		}
		if len(own)+len(others) == limit {
			break
		}
		if !flushed {
			of.mu.Unlock()
			err := c.flush()
			of.mu.Lock()
			if err != nil {
				return nil, err
			}
			flushed, i = true, 0
			continue
		}
		p, a := int64(math.MaxInt64), int64(0)
		if i > 0 {
			p, a = of.queue[i-1].Priority, of.queue[i-1].ID
		}
		of.page = max(limit, min(2*of.page, maxRead))
		more, err := read(p, a, of.page)
		if err != nil {
			return nil, err
		}
		of.queue = append(of.queue, more...)
		if len(more) == 0 {
			break
		}
	}
	return append(own, others...), nil
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
		c.of.drop(kept)
		time.AfterFunc(claimed, func() { c.of.release(c.out) })
	}
}

// drop takes results out of what was read of the queue.
func (c *claimant) drop(ids map[int64]struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = slices.DeleteFunc(c.queue, func(x Candidate) bool {
		_, ok := ids[x.ID]
		return ok
	})
}

func (c *claimant) release(ids []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		delete(c.held, id)
	}
}
