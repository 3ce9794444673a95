// Package jobsched decides which results run now, and says of every other one
// why it does not. It is policy: values in, values out.
//
// Results whose deadline is in danger run first, earliest deadline first; all
// other CPUs go to the projects that are owed most. A deadline is in danger when
// the computer, if it did nothing but meet deadlines, would meet this one with
// less than a time slice to spare. So deadlines bend the shares as late and as
// little as they can, and debt straightens them afterwards.
package jobsched

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A Snapshot is all that the decision looks at.
type Snapshot struct {
	Now      time.Time
	CPUs     int           // that may be used
	Memory   int64         // bytes that the jobs may use; 0: no limit
	Slice    time.Duration // switch interval: how long a result runs before another project's may take its CPU
	OnFrac   float64       // part of the time that the computer computes; 0 means 1
	Limits   []Limit
	Projects []Project
	Jobs     []Job

	Stopped      string    // why nothing may run now, for people; "" if it may
	StoppedUntil time.Time // when that changes; zero: not known
}

// A Limit is how many of some jobs may run at once.
type Limit struct {
	Name string `json:"name"` // for people: the setting and what it is for
	Max  int    `json:"max"`
}

// A Project is what the decision needs to know of one.
type Project struct {
	Debt float64 // CPU-seconds; positive: it is owed
	// Unreachable: its servers have not answered for a while. What is computed
	// for it may be lost, so it comes after all others.
	Unreachable bool
	Suspended   bool // by the volunteer
}

// A Job is a result that could run.
type Job struct {
	ID        string
	Project   int           // index into Projects
	CPUs      float64       // it uses; 0 means 1
	Remaining time.Duration // estimated computing time left
	Deadline  time.Time
	Received  time.Time
	Memory    int64 // bytes it needs
	Under     []int // indices of the limits it is under
	Running   bool
	Ran       time.Duration // Running: for so long without a break
	Started   bool          // some of it has been computed
	Urgent    bool          // was in danger when last looked at
	// Unsaved: it has computed since its last checkpoint, which would be lost.
	Unsaved   bool
	Suspended bool      // by the volunteer
	NotBefore time.Time // the application asked to be started no earlier
}

// A Code tells one reason from another.
type Code string

// The reasons.
const (
	RunDebt     Code = "run"          // its project is owed most
	RunDeadline Code = "run_deadline" // its deadline is in danger
	NoCPU       Code = "no_cpu_free"
	NoMemory    Code = "no_memory_free"
	Limited     Code = "max_concurrent"
	Postponed   Code = "postponed"
	Suspended   Code = "suspended"
	Stopped     Code = "computing_suspended"
)

// A Reason is what was decided for one job, and why.
type Reason struct {
	Code   Code      `json:"code"`
	Text   string    `json:"text"`             // one sentence for people
	Until  time.Time `json:"until,omitzero"`   // when it changes; zero: not known
	Urgent bool      `json:"urgent,omitempty"` // its deadline is in danger
}

// Run reports whether the job runs.
func (r Reason) Run() bool { return r.Code == RunDebt || r.Code == RunDeadline }

// Choose returns a reason for each of s.Jobs, in their order, and when to choose
// again if nothing happens before.
func Choose(s Snapshot) (reasons []Reason, again time.Time) {
	c := chooser{
		Snapshot: s, reasons: make([]Reason, len(s.Jobs)), free: float64(s.CPUs), memory: s.Memory,
		again: s.Now.Add(time.Hour), charge: make([]float64, len(s.Projects)), under: make([]int, len(s.Limits)),
	}
	for i := range s.Jobs {
		if r := c.barred(i); r.Code != "" {
			c.reasons[i] = r
			c.wake(r.Until)
			continue
		}
		c.waiting = append(c.waiting, i)
	}
	c.markDanger()
	c.runUrgent()
	c.keepRunning()
	c.runByDebt()
	for _, i := range c.waiting {
		c.reasons[i] = c.whyNot(i)
	}
	return c.reasons, c.again
}

// barred tells why a job cannot run whatever else does; its code is "" if it can.
func (c *chooser) barred(i int) Reason {
	j := c.Jobs[i]
	switch {
	case j.Suspended:
		return Reason{Code: Suspended, Text: "You suspended this task."}
	case c.Projects[j.Project].Suspended:
		return Reason{Code: Suspended, Text: "You suspended its project."}
	case c.Stopped != "":
		return Reason{Code: Stopped, Text: c.Stopped, Until: c.StoppedUntil}
	case c.Now.Before(j.NotBefore):
		return Reason{Code: Postponed, Text: "The application asked to be started again later.", Until: j.NotBefore}
	}
	return Reason{}
}

type chooser struct {
	Snapshot
	reasons []Reason
	waiting []int // jobs not decided yet
	free    float64
	memory  int64     // bytes not promised yet, if there is a limit
	under   []int     // jobs that run under each limit
	charge  []float64 // CPU-seconds that this pass has promised each project
	again   time.Time
}

func (c *chooser) wake(t time.Time) {
	if t.After(c.Now) && t.Before(c.again) {
		c.again = t
	}
}

// need is how many CPUs a job takes; one that wants more than there are takes
// them all.
func (c *chooser) need(i int) float64 {
	n := c.Jobs[i].CPUs
	if n <= 0 {
		n = 1
	}
	return min(n, float64(c.CPUs))
}

// run gives a job its CPUs, if they are free.
func (c *chooser) run(i int, code Code, text string) bool {
	if code, _ := c.misses(i); code != "" {
		return false
	}
	need := c.need(i)
	c.free -= need
	c.memory -= c.Jobs[i].Memory
	for _, l := range c.Jobs[i].Under {
		c.under[l]++
	}
	c.charge[c.Jobs[i].Project] += need * c.turn(i)
	c.reasons[i] = Reason{Code: code, Text: text, Urgent: c.reasons[i].Urgent}
	c.waiting = slices.DeleteFunc(c.waiting, func(k int) bool { return k == i })
	return true
}

// misses tells what a job cannot run for want of, "" if of nothing, and the limit
// if it is one.
func (c *chooser) misses(i int) (code Code, limit int) {
	j := &c.Jobs[i]
	for _, l := range j.Under {
		if c.under[l] >= c.Limits[l].Max {
			return Limited, l
		}
	}
	switch {
	case c.free < c.need(i):
		return NoCPU, 0
	case c.Memory > 0 && c.memory < j.Memory:
		return NoMemory, 0
	}
	return "", 0
}

// markDanger marks the jobs that must run for deadlines to be kept.
func (c *chooser) markDanger() {
	jobs := make([]Job, 0, len(c.waiting))
	index := make([]int, 0, len(c.waiting))
	for _, i := range c.waiting {
		if !c.Projects[c.Jobs[i].Project].Unreachable && !c.hopeless(i) {
			jobs = append(jobs, c.Jobs[i])
			index = append(index, i)
		}
	}
	all := Laxities(c.Now, c.CPUs, c.OnFrac, jobs)
	for k, l := range all {
		j := jobs[k]
		limit := c.Slice
		if j.Urgent {
			limit += c.Slice // once in danger, a job is not let go at the first sign of relief
		}
		if l.Slack < limit {
			for m := k; m >= 0; m = all[m].Behind {
				c.reasons[index[m]].Urgent = true
			}
			continue
		}
		c.wake(c.Now.Add(l.Slack - limit + time.Second))
	}
}

func (c *chooser) runUrgent() {
	var urgent []int
	for _, i := range c.waiting {
		if c.reasons[i].Urgent {
			urgent = append(urgent, i)
		}
	}
	slices.SortStableFunc(urgent, func(a, b int) int { return byDeadline(&c.Jobs[a], &c.Jobs[b]) })
	for _, i := range urgent {
		c.run(i, RunDeadline, "Running, because its deadline "+clock(c.Jobs[i].Deadline)+" is near.")
	}
}

// keepRunning lets jobs finish their time slice.
func (c *chooser) keepRunning() {
	for _, i := range slices.Clone(c.waiting) {
		j := c.Jobs[i]
		end := c.Now.Add(c.Slice - j.Ran)
		if j.Unsaved && !c.Now.Before(end) {
			end = end.Add(c.Slice) // wait for a checkpoint, but not for ever
		}
		if j.Running && c.Now.Before(end) && !c.Projects[j.Project].Unreachable && c.run(i, RunDebt, "Running.") {
			c.wake(end)
		}
	}
}

// runByDebt gives what is left to the projects that are owed most.
func (c *chooser) runByDebt() {
	for {
		best := -1
		for _, i := range c.waiting {
			if code, _ := c.misses(i); code == "" && (best < 0 || c.better(i, best)) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		c.run(best, RunDebt, "Running.")
		c.wake(c.Now.Add(c.Slice))
	}
}

// hopeless reports whether a job cannot be in time whatever is done. It is
// computed only where nothing else is left to do.
func (c *chooser) hopeless(i int) bool {
	return c.Now.Add(c.Jobs[i].Remaining).After(c.Jobs[i].Deadline)
}

// better reports whether job a goes before job b.
func (c *chooser) better(a, b int) bool {
	x, y := c.Jobs[a], c.Jobs[b]
	if h := c.hopeless(a); h != c.hopeless(b) {
		return !h
	}
	if x.Project != y.Project {
		p, q := c.Projects[x.Project], c.Projects[y.Project]
		if p.Unreachable != q.Unreachable {
			return q.Unreachable
		}
		if d := c.claim(a) - c.claim(b); d != 0 {
			return d > 0
		}
	}
	return cmp.Or(
		-compareBool(x.Running, y.Running), -compareBool(x.Started, y.Started),
		byDeadline(&x, &y),
	) < 0
}

// claim is what a job's project is owed after what this pass has promised it. A
// job that runs has a little more, so that equal claims do not take turns.
func (c *chooser) claim(i int) float64 {
	j := c.Jobs[i]
	d := c.Projects[j.Project].Debt - c.charge[j.Project]
	if j.Running {
		d += min(c.Slice.Seconds()/2, c.turn(i))
	}
	return d
}

// turn is for how long a job has its CPUs if it gets them now, in seconds: a time
// slice, or less if it is finished before.
func (c *chooser) turn(i int) float64 {
	return min(c.Slice, max(c.Jobs[i].Remaining, time.Second)).Seconds()
}

func (c *chooser) whyNot(i int) Reason {
	j := c.Jobs[i]
	code, limit := c.misses(i)
	r := Reason{Code: code, Urgent: c.reasons[i].Urgent}
	switch {
	case code == Limited:
		r.Text = fmt.Sprintf("%d run already: the limit of %s.", c.Limits[limit].Max, c.Limits[limit].Name)
	case code == NoMemory:
		r.Text = fmt.Sprintf(
			"It needs %d MB of memory; of the %d MB that tasks may use (ram_max_used_busy_pct, ram_max_used_idle_pct) %d are free.",
			j.Memory>>20, c.Memory>>20, max(0, c.memory)>>20)
	case c.Projects[j.Project].Unreachable:
		r.Text = "Its project cannot be reached, so others' tasks run first."
	default:
		r.Text = fmt.Sprintf("All %d CPUs that may be used (max_ncpus_pct) run tasks with nearer deadlines or of projects that are owed more.", c.CPUs)
	}
	return r
}

func byDeadline(x, y *Job) int {
	return cmp.Or(x.Deadline.Compare(y.Deadline), x.Received.Compare(y.Received), cmp.Compare(x.ID, y.ID))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func clock(t time.Time) string { return t.Format("2006-01-02 15:04") }
