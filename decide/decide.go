// Package decide makes one pass of all the agent's decisions: how much each project is owed, which
// results run, which project is asked for work, which servers are contacted and why, and why
// everything else is not done. It is policy: a Snapshot in, a Plan out, and the same snapshot
// always gives the same plan. The daemon and the simulator make their decisions here and nowhere
// else.
//
// It combines debt, jobsched, contact, and workfetch, which uses jobsched's jobs. The packages below
// this one are not part of a pass: the agent uses them for stored files, news, and an account
// manager's changes.
package decide

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/debt"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/workfetch"
)

// A Plan is the result of a pass.
type Plan struct {
	Projects []ProjectPlan `json:"projects"`          // of Snapshot.Projects, in their order
	Results  []ResultPlan  `json:"results,omitempty"` // of Snapshot.Results, in their order
	// Busy is the time until a CPU is free of work whose deadline is in danger. It is sent to
	// servers.
	Busy    time.Duration `json:"busy,omitempty"`
	Coprocs []CoprocPlan  `json:"coprocs,omitempty"` // of Snapshot.Coprocs, in their order
	Drain   DrainPlan     `json:"drain,omitzero"`    // if one was asked for
	Again   time.Time     `json:"again"`             // when to decide again if nothing happens before
}

// A CoprocPlan is the decision for one kind of coprocessor.
type CoprocPlan struct {
	Kind resource.Kind `json:"kind"`
	Busy time.Duration `json:"busy,omitempty"` // as of a Plan
}

// BusyOf returns the time until a coprocessor is free of work whose deadline is in danger.
func (p *Plan) BusyOf(k resource.Kind) time.Duration {
	for _, c := range p.Coprocs {
		if c.Kind == k {
			return c.Busy
		}
	}
	return 0
}

// A ProjectPlan is the decision for one project.
type ProjectPlan struct {
	Debt    float64            `json:"debt"` // CPU-seconds that it is owed now
	Fetch   workfetch.Decision `json:"fetch"`
	Session Session            `json:"session"`
	// Await is set if nothing is to be done with its servers, and they had no work when they were
	// asked. If they announce new work, the agent listens.
	Await bool `json:"await,omitempty"`
}

// A ResultPlan is the decision for one result.
type ResultPlan struct {
	jobsched.Decision
	Remaining time.Duration `json:"remaining,omitempty"` // estimated computing time left
	// Late is the minimum time by which it will miss its deadline. 0 means that it can be in time.
	Late time.Duration `json:"late,omitempty"`
	// GiveUp: its deadline passed before it was started. Computing it would only
	// take time from others.
	GiveUp bool `json:"give_up,omitempty"`
}

// Lateness returns a sentence about a task that missed its deadline or will miss it, and the
// remedy. Both are empty if it can be in time. late is the minimum time by which it misses its
// deadline. cpus is the preference that limits the CPUs for tasks.
func Lateness(task string, late time.Duration, deadline, now time.Time, cpus prefs.Bound) (text, cure words.Text) {
	switch {
	case late <= 0:
		return words.Text{}, words.Text{}
	case !deadline.After(now):
		return words.T("It is late: its deadline passed {when}.", "when", words.When(deadline, now)),
			words.T("Let it finish: it may still count. To give it up: starling task abort {task}", "task", task)
	}
	text = words.T("It will be about {span} late.", "span", words.Span(late))
	if cpus.Key != "" {
		return text, words.T("Let it run more: allow more CPUs ({key}) or more time (starling mode always), or suspend others. "+
			"If it cannot be in time, abort it, so that another computer gets it: starling task abort {task}", "key", cpus.Key, "task", task)
	}
	return text, words.T("Let it run more: allow more time (starling mode always), or suspend others. "+
		"If it cannot be in time, abort it, so that another computer gets it: starling task abort {task}", "task", task)
}

// Pass decides.
func Pass(s Snapshot) Plan {
	p := pass{Snapshot: s, plan: Plan{
		Projects: make([]ProjectPlan, len(s.Projects)), Results: make([]ResultPlan, len(s.Results)),
		Again: s.Now.Add(time.Hour),
	}, compares: make(map[int]bool)}
	p.sort()
	p.settle()
	p.estimate()
	p.run()
	p.drain()
	p.fetch()
	p.contact()
	return p.plan
}

type pass struct {
	Snapshot
	plan   Plan
	sizes  debt.PerKind                // of the computer
	ledger []debt.Project              // as it was before
	order  []int                       // of the results: nearest deadline first
	learnt []learnt                    // of each project's work for the CPUs
	others map[resource.Kind][]*learnt // and for coprocessors
	// compares contains the projects whose servers' clocks are to be compared with the computer's.
	compares map[int]bool
}

func (p *pass) wake(t time.Time) {
	if t.After(p.Now) && t.Before(p.plan.Again) {
		p.plan.Again = t
	}
}

// sort puts the results into the order that all policies want, once: by deadline, age and name. It
// sorts plain numbers, made of a deadline's second and an index, several times as fast as results.
// Results with the same second are then compared.
func (p *pass) sort() {
	const far = 1 << 36 // in seconds: beyond the year 4000 all are compared
	shift := bits.Len(uint(len(p.Results)))
	places := make([]int64, len(p.Results))
	for i := range p.Results {
		second := min(max(p.Results[i].Deadline.Unix(), -far), far)
		places[i] = second<<shift | int64(i)
	}
	slices.Sort(places)
	p.order = make([]int, len(places))
	for n, place := range places {
		p.order[n] = int(place & (1<<shift - 1))
	}
	for from, to := 0, 0; from < len(places); from = to {
		for to = from + 1; to < len(places) && places[to]>>shift == places[from]>>shift; to++ {
		}
		if to > from+1 {
			slices.SortFunc(p.order[from:to], p.compare)
		}
	}
}

func (p *pass) compare(i, j int) int {
	x, y := &p.Results[i], &p.Results[j]
	return cmp.Or(x.Deadline.Compare(y.Deadline), x.Received.Compare(y.Received), cmp.Compare(x.ID, y.ID), cmp.Compare(i, j))
}

// settle brings the debts up to date.
func (p *pass) settle() {
	p.sizes[0] = float64(max(p.CPUs, 1))
	for k, c := range p.Coprocs {
		p.sizes[kind(k)] += float64(len(c.Devices)) * c.Factor()
	}
	p.ledger = make([]debt.Project, len(p.Projects))
	for i, pr := range p.Projects {
		l := debt.Project{Debt: pr.Debt, Share: pr.Share, Counts: pr.counts() && !pr.NonCPUIntensive && pr.Share > 0}
		l.Used[0], l.Without[0] = pr.Used, pr.NoCPUApps
		for k, c := range p.Coprocs {
			l.Used[kind(k)] += pr.UsedOn[c.Kind]
			l.Without[kind(k)] = pr.Others[c.Kind].NoApps || pr.Others[c.Kind].Excluded
		}
		p.ledger[i] = l
	}
	for i, d := range debt.Settle(p.ledger, p.Elapsed, p.sizes) {
		p.plan.Projects[i].Debt = d
	}
}

// kind returns the index in the ledger of the k-th kind of coprocessor. Those beyond the last share
// it.
func kind(k int) int { return min(k+1, debt.MaxKinds-1) }

// jobs describes results to jobsched and workfetch, with their indices.
func (p *pass) jobs(want func(i int) bool) (jobs []jobsched.Job, index []int) {
	index = make([]int, 0, len(p.order))
	for _, i := range p.order {
		if want(i) {
			index = append(index, i)
		}
	}
	jobs = make([]jobsched.Job, 0, len(index))
	for _, i := range index {
		r := &p.Results[i]
		jobs = append(jobs, jobsched.Job{
			ID: r.ID, Project: r.Project, Usage: r.Usage, Under: r.Under,
			Remaining: p.plan.Results[i].Remaining, Deadline: r.Deadline, Received: r.Received,
			Running: r.Running, Ran: r.Ran, Started: r.Started, Urgent: r.Urgent, Unsaved: r.Unsaved,
			Suspended: r.Suspended, NotBefore: r.NotBefore, Suspect: r.Suspect, SetAside: r.SetAside, Obstacle: r.Obstacle.Text(p.Now), Network: r.NeedsNetwork,
		})
	}
	return jobs, index
}

// run lets jobsched choose the tasks that run.
func (p *pass) run() {
	for i := range p.Results {
		r, plan := &p.Results[i], &p.plan.Results[i]
		switch {
		case p.Projects[r.Project].Leaving:
			plan.Explanation = reason.Reason{Code: reason.Detached, About: p.Projects[r.Project].going()}.Explain(p.URL(*r), p.Now)
		case !r.AbortAt.IsZero() && r.Phase != Ready:
			plan.Explanation = reason.Explanation{Code: reason.Suspended, Until: r.AbortAt, Text: words.T("This task will be aborted at your request."), Cure: words.T("Keep it with: starling task resume {task}", "task", r.ID)}
		case p.missed(r) && p.comparable(r.Project):
			plan.Explanation = reason.Reason{Code: reason.ComparingClocks, Until: p.Projects[r.Project].Contact.MinRPCTime}.Explain(p.URL(*r), p.Now)
			p.compares[r.Project] = true
		case p.missed(r) && !p.Projects[r.Project].ClockUnknown:
			plan.GiveUp = true
			plan.Explanation = reason.Reason{Code: reason.GivenUp}.Explain(p.URL(*r), p.Now)
		case p.drained(r).Code != "":
			plan.Explanation = p.drained(r)
		case r.Phase == Fetching, r.Phase == Sending:
			plan.Explanation = r.Waiting(p.Now)
		case r.Phase == Ready:
			plan.Explanation = reason.Reason{Code: reason.ReadyToReport}.Explain(p.URL(*r), p.Now)
			if r.Failed.Is() {
				plan.Text, plan.Cure = r.Failed.Ended(), r.Failed.Cure(p.URL(*r))
			}
		}
	}
	jobs, index := p.jobs(func(i int) bool {
		return p.plan.Results[i].Code == ""
	})
	s := jobsched.Snapshot{
		Now: p.Now, CPUs: p.CPUs, CPUBound: p.CPUBound, Memory: p.Memory, Bound: p.Bound, OnFrac: p.OnFrac, Habit: p.Habit, Forecast: p.Forecast, Slice: p.Slice, Jobs: jobs, Limits: p.Limits, Absent: p.Absent,
		AllMemory: p.AllMemory, Compute: p.Compute, Network: p.Network,
	}
	for _, c := range p.Coprocs {
		s.Coprocs = append(s.Coprocs, jobsched.Pool{Pool: c.Pool, OnFrac: c.OnFrac, Forecast: c.Forecast, Compute: c.Compute})
		p.wake(c.Compute.Until)
	}
	for i, pr := range p.Projects {
		s.Projects = append(s.Projects, jobsched.Project{
			URL: pr.URL, Debt: p.plan.Projects[i].Debt, Unreachable: pr.unreachable(), Suspended: pr.Suspended, Overdrawn: p.overdrawn(i),
		})
	}
	for _, on := range s.Processors() {
		for k, late := range on.Late(jobs) {
			p.plan.Results[index[k]].Late += late // a result computes on one kind
		}
	}
	reasons, again := jobsched.Choose(s)
	for k, r := range reasons {
		p.explain(&p.Results[index[k]], &r)
		p.plan.Results[index[k]].Decision = r
	}
	p.wake(again)
}

// missed reports whether a result's deadline passed before it was started, by both the computer's
// clock and the server's, since either may be wrong. Its server has probably sent it to another
// computer.
func (p *pass) missed(r *Result) bool {
	byServer, byComputer := p.Now, p.Now.Add(p.Projects[r.Project].Ahead) // as the deadline is converted
	return r.computing() && !r.Started && !r.Deadline.IsZero() && !byServer.Before(r.Deadline) && !byComputer.Before(r.Deadline)
}

// comparable reports whether the computer's clock, which may be wrong, can soon be compared with the
// clock of a project's server. If it cannot, results that seem late are computed all the same.
func (p *pass) comparable(project int) bool {
	pr := p.Projects[project]
	fails := pr.Trouble.Is() && p.Now.Before(pr.Contact.MinRPCTime)
	return pr.ClockUnknown && !fails && !pr.Suspended && !pr.Missing && !p.Network.Denied()
}

// explain adds a result's peculiarities to the reason for which it runs or does not run.
func (p *pass) explain(r *Result, why *jobsched.Decision) {
	url := p.URL(*r)
	if why.Run() || why.Code == reason.NoCPU {
		why.Text = words.And(why.Text, r.overuse())
	}
	if why.Run() && !r.Unthrottled && p.Duty.Text.Is() {
		why.Text = words.And(why.Text, words.T("Tasks run for {part}.", "part", p.Duty.Text))
		why.Cure = p.Duty.Cure
	}
	if silence := r.silence(); silence.Is() && why.Run() {
		why.Text = words.And(why.Text, silence)
		if r.overdue() {
			why.Cure = words.T("Look on the project's web site whether such tasks take that long. To give it up: starling task abort {task}", "task", r.ID)
		}
	}
	why.Cure = words.Or(r.Cure(url), why.Cure)
}

// overdrawn reports whether a project owes the others so much that neither its
// deadlines nor its queue keep them from computing and fetching: they may be false.
func (p *pass) overdrawn(project int) bool {
	const part = float64(debt.Overdraft) / float64(debt.Horizon)
	return p.plan.Projects[project].Debt <= -part*p.ledger[project].Bound(p.sizes)
}

// stuckAfter is the maximum time that a result may wait for its files and still count as queued.
const stuckAfter = 6 * time.Hour

// stuck reports whether a result cannot start, now or soon. Its computing would not keep a CPU
// busy, so it does not keep the agent from fetching other work either.
func (p *pass) stuck(i int) bool {
	r := &p.Results[i]
	switch {
	case r.Running:
		return false
	case r.Phase == Fetching:
		return p.Now.Sub(r.Received) > stuckAfter
	case r.Phase == Runnable:
		return p.Memory > 0 && r.Memory > p.Memory || r.NotBefore.After(p.Now.Add(stuckAfter)) || p.plan.Results[i].Code == reason.GPUMissing || r.Obstacle.InImages()
	}
	return false
}

// fetch lets workfetch choose the project to ask.
func (p *pass) fetch() {
	jobs, _ := p.jobs(func(i int) bool {
		r := &p.Results[i]
		return r.computing() && !r.NonCPUIntensive && !p.stuck(i) && !p.overdrawn(r.Project) && r.AbortAt.IsZero() && !p.plan.Results[i].GiveUp && !p.Projects[r.Project].Leaving
	})
	p.plan.Busy = jobsched.Processors{Kind: resource.CPU, Now: p.Now, Count: p.CPUs, OnFrac: p.OnFrac, Habit: p.Habit, Forecast: p.Forecast}.BusyTime(jobs)
	s := workfetch.Snapshot{
		Now: p.Now, CPUs: p.CPUs, OnFrac: p.OnFrac, Habit: p.Habit, Forecast: p.Forecast, Low: p.Low, High: p.High, Jobs: jobs, Disk: p.Disk, Memory: p.Most, AllDisk: p.AllDisk, AllMemory: p.AllMemory,
		Projects: make([]workfetch.Project, len(p.Projects)),
	}
	for _, c := range p.Coprocs {
		pool := workfetch.Pool{Kind: c.Kind, Count: len(c.Devices), Factor: c.Factor(), OnFrac: c.OnFrac, Forecast: c.Forecast}
		if c.Compute.Denied() && c.Compute.Asked {
			pool.Stopped = c.Compute
		}
		s.Coprocs = append(s.Coprocs, pool)
		on := jobsched.Processors{Kind: c.Kind, Now: p.Now, Count: pool.Count, OnFrac: c.OnFrac, Habit: p.Habit, Forecast: c.Forecast}
		p.plan.Coprocs = append(p.plan.Coprocs, CoprocPlan{Kind: c.Kind, Busy: on.BusyTime(jobs)})
	}
	for i, pr := range p.Projects {
		s.Projects[i] = workfetch.Project{
			URL: pr.URL, Share: pr.Share, Debt: p.plan.Projects[i].Debt, Suspended: pr.Suspended, Counts: pr.counts(),
			MinRPCTime: pr.Contact.MinRPCTime, Trouble: pr.Trouble, Asked: pr.Asked, Woken: pr.Woken, Failures: pr.Failures, Failed: pr.Failed,
			Unreachable: pr.unreachable(), Uploading: !pr.Uploading.IsZero(),
			NonCPUIntensive: pr.NonCPUIntensive, Overdrawn: p.overdrawn(i), Talking: pr.Talking, TalkingSince: pr.TalkingSince,
			Stream: p.stream(i, Stream{
				NoApps: pr.NoCPUApps, Backoff: pr.Backoff, BackoffWhy: pr.BackoffWhy, JobTime: pr.JobTime, Latency: pr.Latency,
				Refused: pr.Refused,
			}, p.learnt[i], resource.CPU),
		}
		s.Projects[i].NoWorkWhy, s.Projects[i].NoWorkCure = pr.noWorkWhy()
		if len(pr.Others) > 0 {
			s.Projects[i].Others = make(map[resource.Kind]workfetch.Stream, len(pr.Others))
			for k, of := range pr.Others {
				s.Projects[i].Others[k] = p.stream(i, of, *p.learntOf(i, k), k)
			}
		}
	}
	for i := range p.Results {
		r := &p.Results[i]
		s.Projects[r.Project].Held++
		if r.Phase != Ready {
			s.Projects[r.Project].HasTask = true
		}
		if p.stuck(i) {
			s.Projects[r.Project].Stuck++
		}
		if r.Phase == Sending {
			s.Projects[r.Project].Uploads++
		}
	}
	for i, r := range workfetch.Choose(s) {
		if why := p.barred(r.Code == reason.Ask); why.Code != "" {
			r = workfetch.Decision{Explanation: why}
		}
		p.plan.Projects[i].Fetch = r
	}
}

// patience is the time for which a request for work keeps other projects from being asked, since
// its answer changes how much work is missing. A server that takes longer loses its turn: others
// are asked as if it sent nothing.
const patience = 30 * time.Second

// barred returns why no work may be fetched of any project. asks reports whether work is to be
// requested of one.
func (p *pass) barred(asks bool) reason.Explanation {
	switch {
	case p.Drain.On():
		return p.noFetch()
	case p.Network.Denied():
		return p.Network.As(reason.NetworkSuspended)
	case p.Compute.Denied() && p.Compute.Asked:
		return p.Compute.As(reason.ComputingSuspended)
	}
	for _, pr := range p.Projects {
		if until := pr.TalkingSince.Add(patience); asks && pr.Talking && pr.ForWork && p.Now.Before(until) {
			return reason.Explanation{Code: reason.Conversing, Until: until, Text: words.T("Waiting for a reply from {project} since {since}, until {until} at the latest.",
				"project", pr.URL, "since", words.Time(pr.TalkingSince, p.Now), "until", words.Time(until, p.Now))}
		}
	}
	return reason.Explanation{}
}

// contact decides with which projects to start a session, at most one with each. No project waits
// for another's slow server.
func (p *pass) contact() {
	backlogs := p.backlogs()
	for i := range p.Projects {
		plan := &p.plan.Projects[i]
		plan.Session = p.session(i, backlogs[i])
		if plan.Session.Kind == None {
			plan.Await = plan.Fetch.Waits() && !p.Projects[i].Talking && !p.Projects[i].Leaving
			p.wake(plan.Session.Until)
		}
		p.wake(plan.Fetch.Until)
	}
	p.wake(p.Network.Until)
	p.wake(p.Compute.Until)
}

// backlogs collects the input of the decisions to report.
func (p *pass) backlogs() []contact.Backlog {
	all := make([]contact.Backlog, len(p.Projects))
	nothing := true
	clock, known := jobsched.NewClock(p.Now, p.Habit, p.OnFrac, p.Forecast)
	for i := range p.Results {
		r := &p.Results[i]
		b := &all[r.Project]
		if r.Phase != Ready {
			nothing = false
			b.Unfinished++
			continue
		}
		ready := contact.Finished{Deadline: r.Deadline, Completed: r.Completed, Received: r.Received, Immediately: r.Immediately}
		if known && r.Deadline.After(p.Now) {
			ready.OnUntilDeadline = max(clock.Within(r.Deadline.Sub(p.Now)), 1)
		}
		b.Ready = append(b.Ready, ready)
	}
	for i, pr := range p.Projects {
		b := &all[i]
		b.NoMoreWork, b.Eager, b.NothingElse, b.OnFrac, b.LastUpload = pr.NoMoreWork, p.Eager || p.Drain.On(), nothing, p.OnFrac, pr.Uploading
	}
	return all
}
