package jobsched

import (
	"slices"
	"time"
)

// Margin is how long before its deadline a result should be finished: time to
// report it, and an allowance for estimates, which are wrong by a tenth or so.
func Margin(remaining time.Duration) time.Duration {
	return 15*time.Minute + remaining/5
}

// A Laxity is what a job could wait and still be in time.
type Laxity struct {
	Slack  time.Duration // negative: it can no longer be in time, or hardly
	Behind int           // index of the job that its CPU does before it; -1: none
}

// Laxities returns, for each job, its slack in the schedule that does nothing but
// meet deadlines: earliest deadline first, each job on the CPU that is free first.
// With one-CPU jobs and exact estimates that schedule meets every deadline that
// can be met by list scheduling in that order.
func Laxities(now time.Time, cpus int, onFrac float64, jobs []Job) []Laxity {
	all := make([]int, len(jobs))
	for i := range all {
		all[i] = i
	}
	return laxities(now, cpus, onFrac, jobs, all)
}

// laxities are those of the jobs with the given indices. What it returns, and
// Behind in it, goes by their place in index.
func laxities(now time.Time, cpus int, onFrac float64, jobs []Job, index []int) []Laxity {
	order := make([]int, len(index))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return byDeadline(&jobs[index[a]], &jobs[index[b]]) })
	out := make([]Laxity, len(index))
	e := newEDF(now, cpus, onFrac)
	for _, k := range order {
		out[k].Slack, out[k].Behind = e.add(&jobs[index[k]], k)
	}
	return out
}

// edf is the schedule that does nothing but meet deadlines, under construction.
type edf struct {
	now    time.Time
	onFrac float64
	busy   []time.Duration // computing time of each CPU
	last   []int           // the job each CPU does last
}

func newEDF(now time.Time, cpus int, onFrac float64) *edf {
	if onFrac <= 0 || onFrac > 1 {
		onFrac = 1
	}
	e := &edf{now: now, onFrac: onFrac, busy: make([]time.Duration, max(cpus, 1)), last: make([]int, max(cpus, 1))}
	for k := range e.last {
		e.last[k] = -1
	}
	return e
}

func (e *edf) clone() *edf {
	c := *e
	c.busy, c.last = slices.Clone(e.busy), slices.Clone(e.last)
	return &c
}

// forever is as long as anything is said to take; sums of two of it do not overflow.
const forever = 100 * 365 * 24 * time.Hour

// add appends a job, which must not have an earlier deadline than those before.
func (e *edf) add(j *Job, index int) (slack time.Duration, behind int) {
	first := 0
	for k := range e.busy {
		if e.busy[k] < e.busy[first] {
			first = k
		}
	}
	e.busy[first] = min(e.busy[first]+min(j.Remaining, forever), forever)
	behind, e.last[first] = e.last[first], index
	finish := time.Duration(min(float64(e.busy[first])/e.onFrac, float64(forever)))
	return j.Deadline.Sub(e.now) - finish - Margin(j.Remaining), behind
}

// Fits returns how many jobs like extra, at most most, can be added to jobs so
// that each of them has at least spare to spare and none of jobs that would be in
// time without them is late for them.
func Fits(now time.Time, cpus int, onFrac float64, jobs []Job, extra Job, most int, spare time.Duration) int {
	sorted := make([]*Job, len(jobs))
	for i := range sorted {
		sorted[i] = &jobs[i]
	}
	slices.SortFunc(sorted, byDeadline)
	before := newEDF(now, cpus, onFrac)
	lost := make([]bool, len(sorted))
	at, ahead := len(sorted), before // of what comes before the extra jobs
	for i := range sorted {
		if at == len(sorted) && byDeadline(&extra, sorted[i]) < 0 {
			at = i
			ahead = before.clone()
		}
		slack, _ := before.add(sorted[i], i)
		lost[i] = slack < 0
	}
	ok := func(n int) bool {
		e := ahead.clone()
		for range n {
			if slack, _ := e.add(&extra, 0); slack < spare {
				return false
			}
		}
		for i := at; i < len(sorted); i++ {
			if slack, _ := e.add(sorted[i], i); slack < 0 && !lost[i] {
				return false
			}
		}
		return true
	}
	low := 0
	for high := most; low < high; {
		if mid := (low + high + 1) / 2; ok(mid) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// BusyTime is how long until a CPU is free of jobs whose deadlines are in danger:
// what servers are told, so that they send no job that would have to wait too
// long.
func BusyTime(now time.Time, cpus int, onFrac float64, jobs []Job) time.Duration {
	var urgent []time.Duration // how long each computes
	for i, l := range Laxities(now, cpus, onFrac, jobs) {
		if l.Slack < time.Hour {
			urgent = append(urgent, jobs[i].Remaining)
		}
	}
	cpus = max(cpus, 1)
	if len(urgent) < cpus {
		return 0
	}
	busy := make([]time.Duration, cpus)
	for _, remaining := range urgent {
		k := 0
		for i := range busy {
			if busy[i] < busy[k] {
				k = i
			}
		}
		busy[k] = min(busy[k]+min(remaining, forever), forever)
	}
	return slices.Min(busy)
}
