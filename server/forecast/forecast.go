// Package forecast estimates when a batch of work will be done: from the past speed of the
// computers that were active lately, the work that precedes it, and, once enough of it is done, its
// own pace.
//
// Estimate is pure. Look and Batch read its input from a database.
package forecast

import (
	"cmp"
	"slices"
	"time"
)

// Window is the time after its last request for which a computer counts as active.
const Window = 7 * 24 * time.Hour

// enough is the number of workunits of a batch that have to be done for its own pace to count.
const enough = 10

// A Computer is one that may compute for the application.
type Computer struct {
	User       int64         // its volunteer
	Flops      float64       // operations a second of all tasks that it runs at a time, the time when it is off included
	Task       float64       // operations a second of one of them
	Turnaround time.Duration // average time from sending a task to its report (0: unknown)
}

// Work is the pending work of another application, or of another token of the application.
type Work struct {
	Flops  float64
	Weight float64 // share of the computing time, above 0
}

// A Question is all that an estimate depends on.
type Question struct {
	Now       time.Time
	Flops     float64 // operations of the rest of the batch, for all its results
	Task      float64 // of one of its tasks
	Steps     int     // tasks that follow each other, at most (0: 1)
	Weight    float64 // of its application, above 0
	Share     float64 // weight of its token (0: 1)
	Ahead     float64 // of the application's results that are sent before
	Peers     []Work  // of the application's other tokens, which take turns with it
	Others    []Work
	Computers []Computer
	Stopped   bool // no work of the application is sent
	// Unmeasured is set if computers that may have a GPU for it were active, and the speed of one is unknown.
	Unmeasured bool
	Few        bool // a workunit needs results of more different computers, or volunteers, than were active

	// Of a batch that is being computed.
	Started   time.Time
	Workunits int64
	Left      int64 // of these, without an outcome
}

// A Basis is the source of an estimate.
type Basis string

// The bases.
const (
	Computers  Basis = "computers"  // as if those that were active computed nothing else
	Pace       Basis = "pace"       // the batch continues as it did so far
	None       Basis = "none"       // not estimated: no computer that may compute it was active
	Few        Basis = "few"        // not estimated: too few were
	Unmeasured Basis = "unmeasured" // not estimated: computers with GPUs were active, but none has finished a task of it
	Stopped    Basis = "stopped"    // not estimated: no work of the application is sent
)

// A Forecast has the time when a batch will be done.
type Forecast struct {
	Basis     Basis
	Computers int           // that may compute for the application
	Rate      float64       // operations a second of all of them
	Wait      time.Duration // until the work ahead is sent
	Left      time.Duration // until the batch is done
}

// maxLeft limits the estimate: more than a hundred years has no meaning.
const maxLeft = 100 * 365 * 24 * time.Hour

// Estimate answers a question. All work is divided as a liquid: applications that have some get their weights'
// parts of all computers' speed, and so do the tokens of an application. The last task, and each step of a chain,
// takes a computer's turnaround, by the median. From ten workunits on that are done, those left take as long as
// these did.
func Estimate(q Question) Forecast {
	f := Forecast{Basis: Computers, Computers: len(q.Computers)}
	for _, c := range q.Computers {
		f.Rate += c.Flops
	}
	one := q.one()
	if f.Rate > 0 {
		f.Wait = q.after(q.Ahead, f.Rate)
		f.Left = max(q.after(q.Ahead+q.Flops+q.turns(), f.Rate), f.Wait+bounded(float64(max(q.Steps, 1))*one.Seconds()))
	} else {
		f.Basis = None
		if q.Unmeasured {
			f.Basis = Unmeasured
		}
	}
	if done := q.Workunits - q.Left; done >= enough && q.Now.After(q.Started) {
		f.Basis = Pace
		f.Left = bounded(q.Now.Sub(q.Started).Seconds() * float64(q.Left) / float64(done))
	}
	switch {
	case q.Left == 0 && q.Workunits > 0:
		f.Basis, f.Wait, f.Left = Pace, 0, 0
	case q.Stopped:
		f.Basis, f.Wait, f.Left = Stopped, 0, 0
	case q.Few && len(q.Computers) > 0:
		f.Basis, f.Wait, f.Left = Few, 0, 0
	}
	f.Wait, f.Left = min(f.Wait, maxLeft), min(f.Left, maxLeft)
	return f
}

// turns returns the operations of other tokens until the batch is done. While both have work, they get
// computing time by their weights.
func (q *Question) turns() (flops float64) {
	for _, p := range q.Peers {
		flops += min(p.Flops, q.Flops*p.Weight/cmp.Or(q.Share, 1))
	}
	return flops
}

// one returns the time that a task takes from its sending to its report.
func (q *Question) one() time.Duration {
	var list []time.Duration
	for _, c := range q.Computers {
		switch {
		case c.Turnaround > 0:
			list = append(list, c.Turnaround)
		case c.Task > 0:
			list = append(list, bounded(q.Task/c.Task))
		}
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// after returns the time until the application has so many operations done.
func (q *Question) after(own, rate float64) time.Duration {
	others := slices.Clone(q.Others)
	seconds := 0.0
	for own > 0 {
		weights := q.Weight
		for _, o := range others {
			weights += o.Weight
		}
		each := rate / weights // operations a second of an application whose weight is 1
		step := own / (each * q.Weight)
		for _, o := range others {
			step = min(step, o.Flops/(each*o.Weight))
		}
		seconds += step
		if step == own/(each*q.Weight) {
			break
		}
		own -= step * each * q.Weight
		left := others[:0]
		for _, o := range others {
			if done := step * each * o.Weight; o.Flops/(each*o.Weight) > step {
				left = append(left, Work{Flops: o.Flops - done, Weight: o.Weight})
			}
		}
		others = left
	}
	return bounded(seconds)
}

// bounded is a time that may be too long for one.
func bounded(seconds float64) time.Duration {
	if !(seconds < maxLeft.Seconds()) {
		return maxLeft
	}
	return time.Duration(seconds * float64(time.Second))
}
