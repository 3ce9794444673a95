package jobsched

import (
	"cmp"
	"slices"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
)

// Choose returns the decision for each of s.Jobs, in their order, and when to choose
// again if nothing happens before.
func Choose(s Snapshot) (decisions []Decision, again time.Time) {
	c := newChooser(s)
	for i := range s.Jobs {
		if r := c.barred(i); r.Code != "" {
			c.decisions[i].Explanation = r
			c.wake(r.Until)
			continue
		}
		c.waiting = append(c.waiting, i)
	}
	coprocs, cpus, beside := c.split()
	c.runBeside(beside)
	c.choose(coprocs)
	c.choose(cpus)
	for _, i := range c.waiting {
		if c.undecided(i) {
			c.decisions[i].Explanation = c.whyNot(i)
		}
	}
	return c.decisions, c.again
}

// choose decides which of the jobs run.
func (c *chooser) choose(jobs []int) {
	c.markDanger(jobs)
	c.runUrgent(jobs)
	c.keepRunning(jobs)
	c.runByDebt(jobs)
}

func (c *chooser) undecided(i int) bool { return c.decisions[i].Code == "" }

// barred returns why a job cannot run no matter what else does. Its code is "" if the job can run.
func (c *chooser) barred(i int) reason.Explanation {
	j := c.Jobs[i]
	switch p := c.Projects[j.Project]; {
	case j.Suspended:
		return c.explain(j, reason.Suspended)
	case p.Suspended:
		return reason.Explanation{Code: reason.Suspended, Text: words.T("You suspended its project."), Cure: words.T("Resume it with: starling resume {url}", "url", p.URL)}
	case c.Compute.Denied():
		return c.Compute.As(reason.ComputingSuspended)
	case j.SetAside:
		return c.explain(j, reason.SetAside)
	case c.Now.Before(j.NotBefore) && j.Suspect:
		return reason.Explanation{Code: reason.Postponed, Text: words.T("The agent crashed while this task was running. Tasks like this are restarted one at a time."), Until: j.NotBefore}
	case c.Now.Before(j.NotBefore):
		return reason.Explanation{Code: reason.Postponed, Text: words.And(words.Or(j.Obstacle, words.T("This task could not continue.")), words.T("It will be tried again later.")), Until: j.NotBefore}
	case j.Network && c.Network.Denied():
		return reason.Explanation{Code: reason.NoNetwork, Text: words.And(words.T("It needs the network, which may not be used now."), c.Network.Why), Cure: c.Network.Cure, Until: c.Network.Until}
	case j.Coproc != nil:
		return c.barredOn(j)
	}
	return reason.Explanation{}
}

// explain returns a reason about a job with a fixed sentence.
func (c *chooser) explain(j Job, code reason.Code) reason.Explanation {
	return reason.Reason{Code: code, Task: j.ID}.Explain(c.Projects[j.Project].URL, c.Now)
}

// barredOn returns why a job cannot run on a coprocessor no matter what else does.
func (c *chooser) barredOn(j Job) reason.Explanation {
	if b, _ := c.free.Lacks(j.Usage, nil); b == resource.Missing {
		return missing(j, resource.Find(c.pools, j.Kind()), c.Absent)
	}
	for _, p := range c.Coprocs {
		if p.Kind == j.Kind() && p.Compute.Denied() {
			return p.Compute.As(reason.GPUSuspended)
		}
	}
	return reason.Explanation{}
}

type chooser struct {
	Snapshot
	decisions []Decision
	waiting   []int // jobs that may run (those with a code are decided)
	free      *resource.Capacity
	pools     []resource.Pool
	charge    []float64                   // seconds of a CPU that this pass has promised each project
	reasons   map[want]reason.Explanation // for which jobs do not run
	again     time.Time
}

func newChooser(s Snapshot) *chooser {
	limits := make([]int, len(s.Limits))
	for i, l := range s.Limits {
		limits[i] = l.Max
	}
	pools := make([]resource.Pool, len(s.Coprocs))
	for i, p := range s.Coprocs {
		pools[i] = p.Pool
	}
	return &chooser{
		Snapshot: s, decisions: make([]Decision, len(s.Jobs)), free: resource.NewCapacity(s.CPUs, s.Memory, limits, pools), pools: pools,
		again: s.Now.Add(time.Hour), charge: make([]float64, len(s.Projects)),
		waiting: make([]int, 0, len(s.Jobs)), reasons: make(map[want]reason.Explanation),
	}
}

// split divides the waiting jobs into those on coprocessors, those on the CPUs alone and those that
// run in addition to them. It also reserves the devices that are in use.
func (c *chooser) split() (coprocs, cpus, beside []int) {
	cpus = make([]int, 0, len(c.waiting))
	for _, i := range c.waiting {
		switch j := &c.Jobs[i]; {
		case j.Coproc != nil:
			coprocs = append(coprocs, i)
			c.free.Keep(j.Usage)
		case j.NonCPUIntensive:
			beside = append(beside, i)
		default:
			cpus = append(cpus, i)
		}
	}
	return coprocs, cpus, beside
}

func (c *chooser) wake(t time.Time) {
	if t.After(c.Now) && t.Before(c.again) {
		c.again = t
	}
}

// run starts a job if the resources that it uses are free. Without a text, the reason is that it runs.
func (c *chooser) run(i int, code reason.Code, text words.Text) bool {
	if c.lacks(i) {
		return false
	}
	j := &c.Jobs[i]
	on := c.free.Take(j.Usage, j.Under)
	c.charge[j.Project] += j.Speed(c.CPUs, c.pools) * c.turn(i)
	c.decisions[i].Explanation, c.decisions[i].On = reason.Explanation{Code: code, Text: words.Or(text, running(j.Usage, on))}, on
	return true
}

// markDanger marks the jobs that must run for deadlines to be kept.
func (c *chooser) markDanger(jobs []int) {
	for _, on := range c.Processors() {
		index := make([]int, 0, len(jobs))
		for _, i := range jobs {
			if p := c.Projects[c.Jobs[i].Project]; c.Jobs[i].Kind() == on.Kind && !p.Unreachable && !p.Overdrawn && !c.hopeless(i) {
				index = append(index, i)
			}
		}
		if len(index) > 0 {
			c.markDangerOn(on, index)
		}
	}
}

func (c *chooser) markDangerOn(on Processors, index []int) {
	all := on.Laxities(c.Jobs, index)
	for k, l := range all {
		j := &c.Jobs[index[k]]
		limit := c.Slice
		if j.Urgent {
			limit += c.Slice // once in danger, a job stays urgent until the relief is clear
		}
		if l.Slack < limit {
			for m := k; m >= 0 && !c.decisions[index[m]].Urgent; m = all[m].Behind {
				c.decisions[index[m]].Urgent = true
			}
			continue
		}
		c.wake(c.Now.Add(l.Slack - limit + time.Second))
	}
}

func (c *chooser) runUrgent(jobs []int) {
	var urgent []int
	for _, i := range jobs {
		if c.decisions[i].Urgent {
			urgent = append(urgent, i)
		}
	}
	slices.SortFunc(urgent, func(a, b int) int { return byDeadline(&c.Jobs[a], &c.Jobs[b]) })
	for _, i := range urgent {
		if c.lacks(i) {
			continue
		}
		c.run(i, reason.RunDeadline, words.T("Running now because its deadline is near: {time}.", "time", words.Time(c.Jobs[i].Deadline, c.Now)))
	}
}

// keepRunning lets jobs finish their time slice.
func (c *chooser) keepRunning(jobs []int) {
	for _, i := range jobs {
		j := &c.Jobs[i]
		if !j.Running || !c.undecided(i) {
			continue
		}
		end := c.Now.Add(c.Slice - j.Ran)
		if j.Unsaved && !c.Now.Before(end) {
			end = end.Add(c.Slice) // wait for a checkpoint, but not forever
		}
		if c.Now.Before(end) && !c.Projects[j.Project].Unreachable && c.run(i, reason.RunDebt, words.Text{}) {
			c.wake(end)
		}
	}
}

// runByDebt gives the remaining resources to the projects that are owed most. Each of them runs its
// own jobs in their order.
func (c *chooser) runByDebt(jobs []int) {
	queues := make([][]int, len(c.Projects))
	for _, i := range jobs {
		if p := c.Jobs[i].Project; c.undecided(i) && !c.lacks(i) {
			queues[p] = append(queues[p], i)
		}
	}
	for _, q := range queues {
		slices.SortFunc(q, c.compareOwn)
	}
	for {
		best := -1
		for p, q := range queues {
			// A resource that a job lacks now stays unavailable in this pass.
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
		c.run(best, reason.RunDebt, words.Text{})
		c.wake(c.Now.Add(c.Slice))
		queues[c.Jobs[best].Project] = queues[c.Jobs[best].Project][1:]
	}
}

func (c *chooser) lacks(i int) bool {
	b, _ := c.free.Lacks(c.Jobs[i].Usage, c.Jobs[i].Under)
	return b != resource.None
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

// compareOwn orders a project's jobs by when they run.
func (c *chooser) compareOwn(a, b int) int {
	x, y := &c.Jobs[a], &c.Jobs[b]
	return cmp.Or(
		compareBool(c.hopeless(a), c.hopeless(b)),
		-compareBool(x.Running, y.Running), -compareBool(x.Started, y.Started),
		byDeadline(x, y),
	)
}

// claim returns the time that a job's project is owed, minus the time that this pass has already
// assigned to it. A running job has a little more, so that equal claims do not alternate.
func (c *chooser) claim(i int) float64 {
	j := c.Jobs[i]
	d := c.Projects[j.Project].Debt - c.charge[j.Project]
	if j.Running {
		d += min(c.Slice.Seconds()/2, c.turn(i))
	}
	return d
}

// turn returns the time for which a job has its CPUs if it gets them now, in seconds: a time slice,
// or less if it is finished before.
func (c *chooser) turn(i int) float64 {
	return min(c.Slice, max(c.Jobs[i].Remaining, time.Second)).Seconds()
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
