package jobsched

import (
	"cmp"
	"slices"
	"time"

	"github.com/starling-grid/starling/resource"
)

// Margin returns the time before its deadline at which a result should be finished: time to report
// it, and an allowance for estimates, which are wrong by a tenth or so. For a computer with a known
// habit this is time during which it is on, because a result that is finished as the computer is
// switched off is reported a day later.
func Margin(remaining time.Duration) time.Duration {
	return 15*time.Minute + remaining/5
}

// A Laxity is the time that a job could wait and still be in time.
type Laxity struct {
	Slack  time.Duration // of computing where the habit is known (negative: it can no longer be in time, or hardly)
	Behind int           // index of the job that its CPU does before it (-1 if none)
}

// Processors are the processors of one kind, from now on. Its methods consider only the jobs that
// compute on this kind. Other jobs neither count nor compete with them.
type Processors struct {
	Now      time.Time
	Kind     resource.Kind
	Count    int     // less than 1 counts as 1
	OnFrac   float64 // part of the time that they compute (values outside (0, 1] mean 1)
	Habit    Habit   // when that is, if it is known
	Forecast Forecast
}

func (on Processors) newClock() clock { return newClock(on.Now, on.Habit, on.OnFrac, on.Forecast) }

// of returns the indices of the jobs that compute on them and keep others from doing so.
func (on Processors) of(jobs []Job) []int {
	index := make([]int, 0, len(jobs))
	for i := range jobs {
		if jobs[i].Kind() == on.Kind && !jobs[i].NonCPUIntensive {
			index = append(index, i)
		}
	}
	return index
}

// Laxities returns the slack of the jobs with the given indices in the schedule that does nothing
// but meet deadlines: earliest deadline first, each job on the processor that is free first. With
// jobs of one processor and exact estimates, that schedule meets every deadline that can be met by
// list scheduling in that order. The returned slice has the order of index, and Behind is a
// position in index.
func (on Processors) Laxities(jobs []Job, index []int) []Laxity {
	order := make([]int, len(index))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return byDeadline(&jobs[index[a]], &jobs[index[b]]) })
	out := make([]Laxity, len(index))
	e := newEDF(on)
	for _, k := range order {
		out[k].Slack, out[k].Behind = e.add(&jobs[index[k]], k)
	}
	return out
}

// edf is the schedule that does nothing but meet deadlines, under construction.
type edf struct {
	Processors
	clock clock
	busy  []time.Duration // computing time of each processor
	last  []int           // the job each does last
	next  []int           // see free
}

func newEDF(on Processors) *edf {
	on.Count = max(on.Count, 1)
	e := &edf{Processors: on, clock: on.newClock(), busy: make([]time.Duration, on.Count), last: make([]int, on.Count)}
	for k := range e.last {
		e.last[k] = -1
	}
	return e
}

func (e *edf) clone() *edf {
	c := *e
	c.busy, c.last, c.next = slices.Clone(e.busy), slices.Clone(e.last), nil
	return &c
}

// forever is the maximum of all times. The sum of two of it does not overflow.
const forever = 100 * 365 * 24 * time.Hour

// add appends a job, which must not have an earlier deadline than those before. A job that uses a
// part of a device takes that part of the device's time. A job that uses several devices starts
// when enough of them are free. A job counts as using one CPU, however many it uses, since it is
// not known which CPUs will be free for it together.
func (e *edf) add(j *Job, index int) (slack time.Duration, behind int) {
	takes, devices := min(j.Remaining, forever), 1
	if d := j.Devices(); 0 < d && d < 1 {
		takes = time.Duration(d * float64(takes))
	} else if d > 1 {
		devices = min(int(d), e.Count)
	}
	last := e.free(devices)
	end := min(e.busy[last[devices-1]]+takes, forever)
	behind = e.last[last[devices-1]]
	for _, k := range last {
		e.busy[k], e.last[k] = end, index
	}
	return e.clock.slack(j.Deadline.Sub(e.Now), end, Margin(j.Remaining)), behind
}

// free returns the n processors that are free first, in that order, until it is called again.
func (e *edf) free(n int) []int {
	if e.next = e.next[:0]; n == 1 {
		first := 0
		for k := range e.busy {
			if e.busy[k] < e.busy[first] {
				first = k
			}
		}
		e.next = append(e.next, first)
		return e.next
	}
	for k := range e.busy {
		e.next = append(e.next, k)
	}
	slices.SortStableFunc(e.next, func(a, b int) int { return cmp.Compare(e.busy[a], e.busy[b]) })
	return e.next[:n]
}

// Fits returns how many jobs like extra, at most most, can be added to jobs so
// that each of them has at least spare to spare and none of jobs that would be in
// time without them is late for them.
func (on Processors) Fits(jobs []Job, extra Job, most int, spare time.Duration) int {
	index := on.of(jobs)
	sorted := make([]*Job, len(index))
	for k, i := range index {
		sorted[k] = &jobs[i]
	}
	slices.SortFunc(sorted, byDeadline)
	before := newEDF(on)
	lost := make([]bool, len(sorted))
	at, ahead := len(sorted), before // of the jobs before the extra ones
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

// BusyTime returns the time until a processor is free of jobs whose deadlines are in danger. It is
// sent to servers, so that they do not send jobs that would have to wait too long.
func (on Processors) BusyTime(jobs []Job) time.Duration {
	index := on.of(jobs)
	var urgent []time.Duration // how long each computes
	for k, l := range on.Laxities(jobs, index) {
		if l.Slack < time.Hour {
			urgent = append(urgent, jobs[index[k]].Remaining)
		}
	}
	count := max(on.Count, 1)
	if len(urgent) < count {
		return 0
	}
	busy := make([]time.Duration, count)
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
