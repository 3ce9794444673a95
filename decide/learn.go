package decide

import (
	"cmp"
	"time"

	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/workfetch"
)

// A learnt has the facts learned from results about a project's estimates for one kind of
// processor.
type learnt struct {
	correction float64 // of stated times
	proved     bool    // they have met a real result
}

// learntOf returns the facts learned from a project's results for a kind of processor.
func (p *pass) learntOf(project int, k resource.Kind) *learnt {
	if k == resource.CPU {
		return &p.learnt[project]
	}
	of := p.others[k]
	if of == nil {
		of = make([]*learnt, len(p.Projects))
		p.others[k] = of
	}
	if of[project] == nil {
		of[project] = &learnt{proved: p.Projects[project].Others[k].Estimates.Results > 0}
	}
	return of[project]
}

// estimate sets the computing time that each result has left.
func (p *pass) estimate() {
	p.learnt, p.others = make([]learnt, len(p.Projects)), make(map[resource.Kind][]*learnt)
	for i, pr := range p.Projects {
		p.learnt[i].proved = pr.Estimates.Results > 0
	}
	for i := range p.Results {
		r := &p.Results[i]
		if !r.computing() || r.NonCPUIntensive {
			continue
		}
		l := p.learntOf(r.Project, r.Kind())
		if r.Fraction > 0.02 && r.Stated > 0 {
			ratio := r.Elapsed.Seconds() / r.Fraction / r.Stated.Seconds()
			l.correction = max(l.correction, ratio)
		}
		l.proved = l.proved || r.Fraction > 0.1
	}
	for i, pr := range p.Projects {
		p.learnt[i].correction = pr.Estimates.Correction(p.learnt[i].correction)
		for k := range pr.Others {
			p.learntOf(i, k)
		}
	}
	for k, of := range p.others {
		for i, l := range of {
			if l != nil {
				l.correction = p.Projects[i].Others[k].Estimates.Correction(l.correction)
			}
		}
	}
	for i := range p.Results {
		if r := &p.Results[i]; r.computing() {
			correction := p.learntOf(r.Project, r.Kind()).correction
			if r.Estimates.Results > 0 {
				correction = r.Estimates.Ratio
			}
			whole := time.Duration(float64(r.Stated) * correction)
			p.plan.Results[i].Remaining = p.spread(r.Unthrottled, jobsched.Remaining(whole, r.Elapsed, r.Fraction))
		}
	}
}

// spread returns the time over which the volunteer's limit on CPU time spreads so much computing.
// Of the two limits, in use and idle, the higher counts, since it is unknown which of them will
// apply at what time.
func (p *pass) spread(unthrottled bool, computing time.Duration) time.Duration {
	if most := p.Duty.Most; !unthrottled && most > 0 && most < 100 {
		return time.Duration(min(float64(computing)*100/most, float64(longest)))
	}
	return computing
}

// longest is the maximum of all estimates.
const longest = 100 * 365 * 24 * time.Hour

// stream describes a project's work for one kind of processor to workfetch.
func (p *pass) stream(project int, of Stream, l learnt, k resource.Kind) workfetch.Stream {
	v := workfetch.Stream{
		NoApps: of.NoApps, Excluded: of.Excluded, Backoff: of.Backoff, BackoffWhy: of.BackoffWhy, Latency: of.Latency, Devices: of.Devices,
		Refused: of.Refused,
		JobTime: p.spread(k != resource.CPU, time.Duration(float64(of.JobTime)*l.correction)), Proved: l.proved,
	}
	if !l.proved {
		v.WaitsID, v.Waits = p.waits(project, k)
	}
	if !p.Projects[project].Corrects {
		v.Correction = l.correction
	}
	if k == resource.CPU && p.Duty.Most > 0 && p.Duty.Most < 100 { // servers are asked for computing
		v.Correction = cmp.Or(v.Correction, 1) * 100 / p.Duty.Most
	}
	return v
}

// waits returns why the first of a project's tasks for a kind of processor does not run. The code
// is "" if one runs or the project has no such task.
func (p *pass) waits(project int, k resource.Kind) (id string, why reason.Explanation) {
	for _, i := range p.order {
		r := &p.Results[i]
		if r.Project != project || r.Kind() != k || !r.computing() || r.NonCPUIntensive {
			continue
		}
		if plan := &p.plan.Results[i]; plan.Run() {
			return "", reason.Explanation{}
		} else if why.Code == "" {
			id, why = r.ID, plan.Explanation
		}
	}
	return id, why
}
