package match

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol"
)

// A queue is when each CPU of a host will be free, soonest first, counted from now.
type queue []time.Duration

// maxCPUs bounds the CPUs for which a queue is kept.
const maxCPUs = 1024

// newQueue returns what a host tells of its queue: CPUs that it wants filled are
// idle, the others are busy for its estimated delay.
func newQueue(req *protocol.SchedulerRequest, ncpus int) queue {
	q := make(queue, min(max(1, ncpus), maxCPUs))
	for i := range q {
		if float64(i) >= req.CPUReqInstances {
			q[i] = max(0, req.EstimatedDelay)
		}
	}
	return q
}

// cpus returns how many CPUs of the queue a task of so many takes.
func (q queue) cpus(n float64) int { return min(max(1, int(n)), len(q)) }

// start returns when a task that takes n CPUs would begin.
func (q queue) start(n float64) time.Duration { return q[q.cpus(n)-1] }

// add queues a task that takes n CPUs for the time d.
func (q queue) add(d time.Duration, n float64) {
	k := q.cpus(n)
	end := q[k-1] + d
	for i := range k {
		q[i] = end
	}
	slices.Sort(q)
}
