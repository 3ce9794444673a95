package match

import (
	"slices"
	"time"
)

// A queue has the times at which the processors of a kind will be free, soonest first, counted from
// now.
type queue []time.Duration

// maxCPUs bounds the processors for which a queue is kept.
const maxCPUs = 1024

// newQueue returns the queue that a host reports for n processors. Those for which it requests work
// are idle, the others are busy for its estimated delay.
func newQueue(idle float64, delay time.Duration, n int) queue {
	q := make(queue, min(max(1, n), maxCPUs))
	for i := range q {
		if float64(i) >= idle {
			q[i] = max(0, delay)
		}
	}
	return q
}

// processors returns the number of processors in the queue that a task for n processors takes.
func (q queue) processors(n float64) int { return min(max(1, int(n)), len(q)) }

// start returns when a task that takes n processors would begin.
func (q queue) start(n float64) time.Duration { return q[q.processors(n)-1] }

// add queues a task that takes n processors for the time d. Of one that shares a
// processor with others only its part of the time counts.
func (q queue) add(d time.Duration, n float64) {
	if n > 0 && n < 1 {
		d = time.Duration(float64(d) * n)
	}
	k := q.processors(n)
	end := q[k-1] + d
	for i := range k {
		q[i] = end
	}
	slices.Sort(q)
}
