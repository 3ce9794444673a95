package workfetch

import (
	"math"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
)

// Choose returns the decision for each of s.Projects, in their order. At most one asks.
func Choose(s Snapshot) []Decision {
	fetchers := s.fetchers()
	decisions := make([]Decision, len(s.Projects))
	claims := make([]float64, len(s.Projects)) // CPU-seconds, of those that are asked
	best := -1
	for i, p := range s.Projects {
		var r Decision
		switch why := p.barred(s); {
		case why.Code != "":
			r.Explanation = why
		case p.NonCPUIntensive:
			r, claims[i] = fetchers[0].beside(i), math.Inf(1) // its work takes no room from others
		default:
			r, claims[i] = s.join(i, fetchers)
		}
		decisions[i] = r
		if r.Code == reason.Ask && (best < 0 || claims[i] > claims[best] || claims[i] == claims[best] && p.URL < s.Projects[best].URL) {
			best = i
		}
	}
	for i := range decisions {
		if r := &decisions[i]; r.Code == reason.Ask && i != best {
			r.Text = words.T("{project} is owed more, so it is asked first.", "project", s.Projects[best].URL)
			if s.Projects[i].Share == 0 {
				r.Text = words.T(noShare)
			}
			r.postpone(reason.OtherFirst)
		}
	}
	return decisions
}

// beside decides for a project whose tasks all need little CPU time.
//
// Source: BOINC client/work_fetch.cpp, WORK_FETCH::non_cpu_intensive_project_needing_work.
func (f *fetcher) beside(i int) Decision {
	p := f.Projects[i]
	if r := because(f.barred(p)); r.Code != "" {
		if r.Code == reason.NoWorkBackoff && !p.HasTask {
			r.Could, r.Along = firstRequest, true
		}
		return r
	}
	if p.HasTask {
		return because(f.explain(p, reason.HasTask))
	}
	return f.pause(i, ask(words.T("Requesting a task that needs little CPU time."), firstRequest))
}

// fetchers returns a fetcher for each kind of processor, the CPUs first.
func (s Snapshot) fetchers() []*fetcher {
	if len(s.Coprocs) == 0 {
		return []*fetcher{newFetcher(s, resource.CPU, 1)}
	}
	jobs := make(map[resource.Kind][]jobsched.Job)
	for i := range s.Jobs {
		k := s.Jobs[i].Kind()
		jobs[k] = append(jobs[k], s.Jobs[i])
	}
	of := s
	of.Jobs = jobs[resource.CPU]
	all := []*fetcher{newFetcher(of, resource.CPU, 1)}
	for _, c := range s.Coprocs {
		of := s
		of.CPUs, of.OnFrac, of.Forecast, of.Jobs = c.Count, c.OnFrac, c.Forecast, jobs[c.Kind]
		of.Projects = make([]Project, len(s.Projects))
		for i, p := range s.Projects {
			p.Stream, p.Debt = p.Others[c.Kind], p.Debt/c.Factor
			of.Projects[i] = p
		}
		all = append(all, newFetcher(of, c.Kind, c.Factor))
	}
	return all
}

// join decides for one project and all kinds of processors. The reason is the one for the CPUs,
// unless the project only has work for other processors, or is only asked for such work. claim is
// the project's entitlement for the kind that it is asked for.
func (s Snapshot) join(i int, fetchers []*fetcher) (r Decision, claim float64) {
	f := fetchers[0]
	r, claim = f.pause(i, f.judge(i)), f.claim[i]
	if len(fetchers) == 1 {
		return r, claim
	}
	var asked []words.Text
	if r.Code == reason.Ask {
		asked = append(asked, r.Text)
	}
	joint := r
	for n, f := range fetchers[1:] {
		of := f.pause(i, f.judge(i))
		if c := s.Coprocs[n].Stopped; c.Denied() {
			if of.Code == reason.Ask {
				of = because(c.As(reason.GPUSuspended))
			}
			of.Could, of.Instances = 0, 0
		}
		switch {
		case of.Code == reason.Ask:
			if len(asked) == 0 || f.claim[i]*f.factor > claim {
				claim = f.claim[i] * f.factor
			}
			asked = append(asked, of.Text)
		case joint.Code == reason.NoCPUApps:
			joint.Explanation = of.Explanation
		}
		joint.Coprocs = append(joint.Coprocs, Coproc{Kind: f.kind, Decision: of})
	}
	if len(asked) > 0 {
		joint.Explanation = reason.Explanation{Code: reason.Ask, Text: words.And(asked...)}
	}
	return joint, claim
}

// postpone makes a request one that is not made now.
func (d *Decision) postpone(why reason.Code) {
	d.Code, d.Seconds, d.Instances = why, 0, 0
	for i := range d.Coprocs {
		if c := &d.Coprocs[i]; c.Code == reason.Ask {
			c.Code, c.Text, c.Seconds, c.Instances = why, d.Text, 0, 0
		}
	}
}

// barred returns why a project cannot be asked for anything. Its code is "" if it can be asked.
func (p Project) barred(s Snapshot) reason.Explanation {
	switch {
	case p.Suspended:
		return reason.Reason{Code: reason.ProjectSuspended}.Explain(p.URL, s.Now)
	case !p.Counts && p.NoWorkWhy.Is():
		return reason.Explanation{Code: reason.NoMoreWork, Text: p.NoWorkWhy, Cure: p.NoWorkCure}
	case !p.Counts:
		return reason.Reason{Code: reason.NoMoreWork}.Explain(p.URL, s.Now)
	case p.Uploads > 2*max(s.CPUs, 1):
		return reason.Explanation{Code: reason.UploadBacklog, Text: words.T("{results} waiting for files to be uploaded.", "results", words.Count(p.Uploads, "result")), Cure: words.T("See why the uploads wait with: starling transfers")}
	case p.Talking:
		return reason.Explanation{Code: reason.Conversing, Text: words.T("Waiting for the project's reply since {time}.", "time", words.Time(p.TalkingSince, s.Now))}
	case s.Now.Before(p.MinRPCTime) && p.Trouble.Is() && p.Trouble.Code != reason.Moved && !p.Asked:
		return reason.Explanation{
			Code: p.Trouble.Code, Until: p.MinRPCTime, Cure: p.Trouble.Cure(p.URL),
			Text: words.And(p.Trouble.Text(s.Now), words.T("Next try {when}.", "when", words.When(p.MinRPCTime, s.Now))),
		}
	}
	return reason.Explanation{}
}
