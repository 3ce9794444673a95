package workfetch

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/starling-grid/starling/reason"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/resource"
)

// Choose returns a reason for each of s.Projects, in their order. At most one is Ask.
func Choose(s Snapshot) []Reason {
	fetchers := s.fetchers()
	reasons := make([]Reason, len(s.Projects))
	claims := make([]float64, len(s.Projects)) // CPU-seconds, of those that are asked
	best := -1
	for i, p := range s.Projects {
		r, barred := p.barred(s)
		switch {
		case barred:
		case p.NonCPUIntensive:
			r, claims[i] = fetchers[0].beside(i), math.Inf(1) // its work takes no room from others
		default:
			r, claims[i] = s.join(i, fetchers)
		}
		reasons[i] = r
		if r.Code == Ask && (best < 0 || claims[i] > claims[best] || claims[i] == claims[best] && p.URL < s.Projects[best].URL) {
			best = i
		}
	}
	for i := range reasons {
		if r := &reasons[i]; r.Code == Ask && i != best {
			r.Text = s.Projects[best].URL + " is owed more, so it is asked first."
			if s.Projects[i].Share == 0 {
				r.Text = noShare
			}
			r.postpone(OtherFirst)
		}
	}
	return reasons
}

// beside decides for a project whose tasks all need little CPU time.
//
// Source: BOINC client/work_fetch.cpp, WORK_FETCH::non_cpu_intensive_project_needing_work.
func (f *fetcher) beside(i int) Reason {
	p := f.Projects[i]
	if r, barred := f.barred(p); barred {
		if r.Code == NoWorkBackoff && !p.HasTask {
			r.Could, r.Along = firstRequest, true
		}
		return r
	}
	if p.HasTask {
		return Reason{Code: HasTask, Text: "Its task is here. Its tasks need little CPU time, so one at a time runs in addition to those of other projects."}
	}
	return f.pause(i, Reason{Code: Ask, Text: "Requesting a task that needs little CPU time.", Seconds: firstRequest})
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
		of.CPUs, of.OnFrac, of.Jobs = c.Count, c.OnFrac, jobs[c.Kind]
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
func (s Snapshot) join(i int, fetchers []*fetcher) (r Reason, claim float64) {
	f := fetchers[0]
	r, claim = f.pause(i, f.judge(i)), f.claim[i]
	if len(fetchers) == 1 {
		return r, claim
	}
	var asked []string
	if r.Code == Ask {
		asked = append(asked, r.Text)
	}
	joint := r
	for n, f := range fetchers[1:] {
		of := f.pause(i, f.judge(i))
		if c := s.Coprocs[n].Stopped; c.Denied() {
			if of.Code == Ask {
				of = Reason{Code: GPUStopped, Text: c.Why, Cure: c.Cure, Until: c.Until}
			}
			of.Could, of.Instances = 0, 0
		}
		switch {
		case of.Code == Ask:
			if len(asked) == 0 || f.claim[i]*f.factor > claim {
				claim = f.claim[i] * f.factor
			}
			asked = append(asked, of.Text)
		case joint.Code == NoCPUApps:
			joint.Code, joint.Text, joint.Cure, joint.Until = of.Code, of.Text, of.Cure, of.Until
		}
		joint.Coprocs = append(joint.Coprocs, Coproc{Kind: f.kind, Reason: of})
	}
	if len(asked) > 0 {
		joint.Code, joint.Text, joint.Cure, joint.Until = Ask, strings.Join(asked, " "), "", time.Time{}
	}
	return joint, claim
}

// postpone makes a request one that is not made now.
func (r *Reason) postpone(why Code) {
	r.Code, r.Seconds, r.Instances = why, 0, 0
	for i := range r.Coprocs {
		if c := &r.Coprocs[i]; c.Code == Ask {
			c.Code, c.Text, c.Seconds, c.Instances = why, r.Text, 0, 0
		}
	}
}

// barred returns why a project cannot be asked for anything.
func (p Project) barred(s Snapshot) (Reason, bool) {
	switch {
	case p.Suspended:
		return Reason{Code: Suspended, Text: "You suspended the project.", Cure: "Resume it with: starling resume " + p.URL}, true
	case !p.Counts && p.NoWorkWhy != "":
		return Reason{Code: NoMoreWork, Text: p.NoWorkWhy, Cure: p.NoWorkCure}, true
	case !p.Counts:
		return Reason{Code: NoMoreWork, Text: "This project is set to fetch no more work.", Cure: "Allow it with: starling allowmorework " + p.URL}, true
	case p.Uploads > 2*max(s.CPUs, 1):
		return Reason{Code: TooManyUpload, Text: fmt.Sprintf("%s waiting for files to be uploaded.", words.Count(p.Uploads, "result")), Cure: "See why the uploads wait with: starling transfers"}, true
	case p.Talking:
		return Reason{Code: Conversing, Text: "Waiting for the project's reply since " + words.Time(p.TalkingSince, s.Now) + "."}, true
	case s.Now.Before(p.MinRPCTime) && p.Trouble.Is() && p.Trouble.Code != reason.Moved && !p.Asked:
		return Reason{
			Code: Code(p.Trouble.Code), Until: p.MinRPCTime, Cure: p.Trouble.Cure(p.URL),
			Text: p.Trouble.Text(s.Now) + " Next try " + words.When(p.MinRPCTime, s.Now) + ".",
		}, true
	}
	return Reason{}, false
}
