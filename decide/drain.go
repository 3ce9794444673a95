package decide

import (
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/reason"
)

// A Drain is a person's request to finish all work: no work is fetched, no further task starts, and
// finished tasks are reported at once.
type Drain struct {
	Scope DrainScope `json:"scope"` // "" if there is no such request
	Since time.Time  `json:"since,omitzero"`
}

// A DrainScope is the part of the tasks that are still computed.
type DrainScope string

// The scopes. They are an interface of the program: people give them to starling drain.
const (
	DrainRunning    DrainScope = "running"    // to their end, those with a process when it was asked
	DrainCheckpoint DrainScope = "checkpoint" // those only as far as their next checkpoint
	DrainAll        DrainScope = "all"        // all to their end
)

// On reports whether a person asked for it.
func (d Drain) On() bool { return d.Scope != "" }

// CancelDrain is the command that ends a drain.
const CancelDrain = "starling drain --cancel"

var resume = words.T("Resume computing with: {command}", "command", CancelDrain)

// drained returns why a drain keeps a result from running. Its code is "" if none does.
func (p *pass) drained(r *Result) reason.Explanation {
	switch {
	case !p.Drain.On() || p.Drain.Scope == DrainAll || r.Finishes || !r.computing() || p.idles(r):
		return reason.Explanation{}
	case p.Drain.Scope == DrainCheckpoint:
		return reason.Explanation{Code: reason.Draining, Text: words.T("Stopped, because you asked for all tasks to stop at their next checkpoint."), Cure: resume}
	}
	return reason.Explanation{Code: reason.Draining, Text: words.T("Not started, because you asked for this computer to finish only the tasks that were running."), Cure: resume}
}

// idles reports whether a person keeps a result from being computed, so that nothing is to wait
// for it.
func (p *pass) idles(r *Result) bool {
	of := p.Projects[r.Project]
	return r.Suspended || of.Suspended || of.Leaving
}

// noFetch returns why a drain keeps work from being fetched.
func (p *pass) noFetch() reason.Explanation {
	return reason.Explanation{Code: reason.Draining, Text: words.T("Not fetching new work, because you asked for this computer to finish its work."), Cure: words.T("Fetch work again with: {command}", "command", CancelDrain)}
}

// A DrainPlan is the work that a drain still waits for.
type DrainPlan struct {
	Stopping  int           `json:"stopping,omitempty"`  // tasks whose processes have yet to end
	Computing int           `json:"computing,omitempty"` // tasks to be computed
	Uploading int           `json:"uploading,omitempty"` // tasks whose files are to be uploaded
	Reporting int           `json:"reporting,omitempty"` // tasks to be reported
	Left      time.Duration `json:"left,omitempty"`      // estimated time until the last is computed (0 if unknown)
}

// Done reports whether a drain has nothing left to wait for.
func (d DrainPlan) Done() bool { return d.Stopping+d.Computing+d.Uploading+d.Reporting == 0 }

// Drained reports whether a person asked for a drain and it is done.
func (r Record) Drained() bool { return r.Snapshot.Drain.On() && r.Plan.Drain.Done() }

// Text returns the remaining work as a part of a sentence: "2 tasks to compute (about 4 min), 1
// task to report".
func (d DrainPlan) Text() words.Text {
	var list []words.Text
	if d.Stopping > 0 {
		list = append(list, words.T("{tasks} to stop", "tasks", words.Count(d.Stopping, "task")))
	}
	if d.Computing > 0 {
		list = append(list, words.T("{tasks} to compute{left}", "tasks", words.Count(d.Computing, "task"), "left", d.left()))
	}
	if d.Uploading > 0 {
		list = append(list, words.T("{tasks} to upload", "tasks", words.Count(d.Uploading, "task")))
	}
	if d.Reporting > 0 {
		list = append(list, words.T("{tasks} to report", "tasks", words.Count(d.Reporting, "task")))
	}
	return words.Join(list, ", ")
}

func (d DrainPlan) left() words.Text {
	if d.Left <= 0 {
		return words.Text{}
	}
	return words.T(" (about {span})", "span", words.Span(d.Left))
}

// drain counts the tasks that a drain still waits for.
func (p *pass) drain() {
	if !p.Drain.On() {
		return
	}
	d, cpus := &p.plan.Drain, time.Duration(max(p.CPUs, 1))
	var sum time.Duration
	for i := range p.Results {
		r, plan := &p.Results[i], p.plan.Results[i]
		switch {
		case r.Running && !plan.Run():
			d.Stopping++
		case p.Projects[r.Project].Suspended || p.Projects[r.Project].Leaving: // nothing is sent to it
		case r.Phase == Sending:
			d.Uploading++
		case r.Phase == Ready:
			d.Reporting++
		case p.idles(r), plan.Code == reason.Draining, plan.GiveUp:
		case p.Drain.Scope == DrainAll || r.Finishes:
			d.Computing++
			d.Left, sum = max(d.Left, plan.Remaining), sum+plan.Remaining
		}
	}
	if d.Left = max(d.Left, sum/cpus); p.Drain.Scope == DrainCheckpoint {
		d.Left = 0 // applications do not announce their next checkpoint
	}
}
