package decide

import (
	"time"

	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/workfetch"
)

// A learnt is what results have shown of a project's estimates for one kind of processor.
type learnt struct {
	correction float64 // of stated times
	proved     bool    // they have met a real result
}

// learntOf is what was learnt of a project's work for a kind of processor.
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

// estimate says how long each result has left to compute.
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
			whole := time.Duration(float64(r.Stated) * p.learntOf(r.Project, r.Kind()).correction)
			p.plan.Results[i].Remaining = jobsched.Remaining(whole, r.Elapsed, r.Fraction)
		}
	}
}

// stream is what is known of a project's work for one kind of processor.
func (p *pass) stream(project int, of Stream, l learnt) workfetch.Stream {
	v := workfetch.Stream{
		NoApps: of.NoApps, Backoff: of.Backoff, BackoffWhy: of.BackoffWhy, Latency: of.Latency, Devices: of.Devices,
		JobTime: time.Duration(float64(of.JobTime) * l.correction), Proved: l.proved,
	}
	if !p.Projects[project].Corrects {
		v.Correction = l.correction
	}
	return v
}
