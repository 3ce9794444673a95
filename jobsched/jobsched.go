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

	"github.com/starling-grid/starling/internal/words"
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
	// Overdrawn: it owes so much that its deadlines no longer count.
	Overdrawn bool
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
	Suspect   bool      // it ran when the agent crashed; NotBefore is when it is tried again
	SetAside  bool      // it did more than once
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
	SetAside    Code = "set_aside"
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
		waiting: make([]int, 0, len(s.Jobs)), texts: make(map[want]string),
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
		if c.undecided(i) {
			c.reasons[i] = c.whyNot(i)
		}
	}
	return c.reasons, c.again
}

func (c *chooser) undecided(i int) bool { return c.reasons[i].Code == "" }

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
	case j.SetAside:
		return Reason{Code: SetAside, Text: "Set aside: the agent crashed twice while this task was running. You can: run it again with starling task resume, or abort it with starling task abort."}
	case c.Now.Before(j.NotBefore) && j.Suspect:
		return Reason{Code: Postponed, Text: "The agent crashed while this task was running. Tasks like this are restarted one at a time.", Until: j.NotBefore}
	case c.Now.Before(j.NotBefore):
		return Reason{Code: Postponed, Text: "This task could not continue. It will be tried again later.", Until: j.NotBefore}
	}
	return Reason{}
}

type chooser struct {
	Snapshot
	reasons []Reason
	waiting []int // jobs that may run; those with a code are decided
	free    float64
	memory  int64     // bytes not promised yet, if there is a limit
	under   []int     // jobs that run under each limit
	charge  []float64 // CPU-seconds that this pass has promised each project
	texts   map[want]string
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
	return true
}

// misses tells what a job cannot run for want of, "" if of nothing, and the limit
// if it is one.
func (c *chooser) misses(i int) (code Code, limit int) {
	if c.free <= 0 && len(c.Jobs[i].Under) == 0 {
		return NoCPU, 0
	}
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
	index := make([]int, 0, len(c.waiting))
	for _, i := range c.waiting {
		if p := c.Projects[c.Jobs[i].Project]; !p.Unreachable && !p.Overdrawn && !c.hopeless(i) {
			index = append(index, i)
		}
	}
	all := laxities(c.Now, c.CPUs, c.OnFrac, c.Jobs, index)
	for k, l := range all {
		j := &c.Jobs[index[k]]
		limit := c.Slice
		if j.Urgent {
			limit += c.Slice // once in danger, a job is not let go at the first sign of relief
		}
		if l.Slack < limit {
			for m := k; m >= 0 && !c.reasons[index[m]].Urgent; m = all[m].Behind {
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
	slices.SortFunc(urgent, func(a, b int) int { return byDeadline(&c.Jobs[a], &c.Jobs[b]) })
	for _, i := range urgent {
		if c.lacks(i) {
			continue
		}
		c.run(i, RunDeadline, "Running now because its deadline is near: "+words.Time(c.Jobs[i].Deadline, c.Now)+".")
	}
}

// keepRunning lets jobs finish their time slice.
func (c *chooser) keepRunning() {
	for _, i := range c.waiting {
		j := &c.Jobs[i]
		if !j.Running || !c.undecided(i) {
			continue
		}
		end := c.Now.Add(c.Slice - j.Ran)
		if j.Unsaved && !c.Now.Before(end) {
			end = end.Add(c.Slice) // wait for a checkpoint, but not for ever
		}
		if c.Now.Before(end) && !c.Projects[j.Project].Unreachable && c.run(i, RunDebt, "Running.") {
			c.wake(end)
		}
	}
}

// runByDebt gives what is left to the projects that are owed most, each of which
// runs its own jobs in their order.
func (c *chooser) runByDebt() {
	if c.free <= 0 {
		return
	}
	queues := make([][]int, len(c.Projects))
	for _, i := range c.waiting {
		if p := c.Jobs[i].Project; c.undecided(i) {
			queues[p] = append(queues[p], i)
		}
	}
	for _, q := range queues {
		slices.SortFunc(q, c.compareOwn)
	}
	for {
		best := -1
		for p, q := range queues {
			// What a job misses now it will not have later in this pass.
			for len(q) > 0 && c.lacks(q[0]) {
				q = q[1:]
			}
			if queues[p] = q; len(q) > 0 && (best < 0 || c.better(q[0], best)) {
				best = q[0]
			}
		}
		if best < 0 {
			return
		}
		c.run(best, RunDebt, "Running.")
		c.wake(c.Now.Add(c.Slice))
		queues[c.Jobs[best].Project] = queues[c.Jobs[best].Project][1:]
	}
}

func (c *chooser) lacks(i int) bool {
	code, _ := c.misses(i)
	return code != ""
}

// hopeless reports whether a job cannot be in time whatever is done. It is
// computed only where nothing else is left to do.
func (c *chooser) hopeless(i int) bool {
	return c.Now.Add(c.Jobs[i].Remaining).After(c.Jobs[i].Deadline)
}

// better reports whether job a goes before job b of another project.
func (c *chooser) better(a, b int) bool {
	if h := c.hopeless(a); h != c.hopeless(b) {
		return !h
	}
	x, y := &c.Jobs[a], &c.Jobs[b]
	p, q := c.Projects[x.Project], c.Projects[y.Project]
	if p.Unreachable != q.Unreachable {
		return q.Unreachable
	}
	if d := c.claim(a) - c.claim(b); d != 0 {
		return d > 0
	}
	return c.compareOwn(a, b) < 0
}

// compareOwn is the order in which a project's jobs run.
func (c *chooser) compareOwn(a, b int) int {
	x, y := &c.Jobs[a], &c.Jobs[b]
	return cmp.Or(
		compareBool(c.hopeless(a), c.hopeless(b)),
		-compareBool(x.Running, y.Running), -compareBool(x.Started, y.Started),
		byDeadline(x, y),
	)
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

// A want is what keeps a job from running: all jobs with the same want wait for
// the same reason.
type want struct {
	code        Code
	limit       int
	memory      int64
	unreachable bool
}

func (c *chooser) whyNot(i int) Reason {
	j := &c.Jobs[i]
	w := want{unreachable: c.Projects[j.Project].Unreachable}
	if w.code, w.limit = c.misses(i); w.code == NoMemory {
		w.memory = j.Memory
	}
	text, known := c.texts[w]
	if !known {
		text = c.inWords(w)
		c.texts[w] = text
	}
	return Reason{Code: w.code, Text: text, Urgent: c.reasons[i].Urgent}
}

func (c *chooser) inWords(w want) string {
	switch {
	case w.code == Limited:
		return fmt.Sprintf("Already running: %d, the limit set by %s.", c.Limits[w.limit].Max, c.Limits[w.limit].Name)
	case w.code == NoMemory:
		return fmt.Sprintf(
			"It needs %d MB of memory. Tasks may use %d MB (ram_max_used_busy_pct, ram_max_used_idle_pct), of which %d MB are free.",
			w.memory>>20, c.Memory>>20, max(0, c.memory)>>20)
	case w.unreachable:
		return "Its project cannot be reached, so tasks of other projects run first."
	}
	return fmt.Sprintf("%s busy with tasks that have earlier deadlines or belong to projects that are owed more (max_ncpus_pct).", busy(c.CPUs))
}

// busy is the start of a sentence about all CPUs that may be used.
func busy(cpus int) string {
	if cpus == 1 {
		return "The only available CPU is"
	}
	return fmt.Sprintf("All %d available CPUs are", cpus)
}

func byDeadline(x, y *Job) int {
	if d := x.Deadline.Compare(y.Deadline); d != 0 {
		return d
	}
	return cmp.Or(x.Received.Compare(y.Received), cmp.Compare(x.ID, y.ID))
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
