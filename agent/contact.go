package agent

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/protocol"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
	"github.com/starling-grid/starling/state"
	"github.com/starling-grid/starling/workfetch"
)

// contact begins what conversations with projects are due: at most one at a
// time with each, and none waits for another's slow server.
func (a *Agent) contact(now time.Time, w *waker) {
	a.decideFetch(now)
	for u, p := range a.db.Projects.All() {
		if a.leaving[u] || a.talking[u] != "" {
			continue
		}
		if p.Contact.FetchMaster || len(p.SchedulerURLs) == 0 {
			if now.Before(p.Contact.MinRPCTime) && !a.asked[u] {
				w.by(p.Contact.MinRPCTime)
				continue
			}
			a.fetchMaster(p)
			continue
		}
		reason, wait := a.reason(p, now)
		switch {
		case reason != "":
			a.session(p, reason, now)
		case !wait.IsZero():
			w.by(wait)
		}
	}
}

// reason tells why a project is contacted now, or when to look again.
func (a *Agent) reason(p state.Project, now time.Time) (reason string, wait time.Time) {
	if a.asked[p.MasterURL] {
		return "you asked for it", time.Time{}
	}
	if now.Before(p.Contact.MinRPCTime) {
		return "", p.Contact.MinRPCTime
	}
	if !p.Contact.Initialized {
		return "first contact", time.Time{}
	}
	if why, due := schedulerop.ReportDue(a.backlog(p), now); due {
		return "to report results: " + why, time.Time{}
	}
	if t := p.Contact.NextRPCTime; !t.IsZero() && !now.Before(t) {
		return "the project asked for it", time.Time{}
	}
	fetch := a.fetch[p.MasterURL]
	if fetch.Code == workfetch.Ask {
		return "to fetch work", time.Time{}
	}
	return "", fetch.Until
}

// backlog gathers what the decision to report looks at.
func (a *Agent) backlog(p state.Project) schedulerop.Backlog {
	b := schedulerop.Backlog{
		NoMoreWork:  a.accounts[p.MasterURL].NoMoreWork,
		Eager:       a.settings.ReportResultsImmediately,
		NothingElse: true,
	}
	for _, r := range a.db.Results.All() {
		switch {
		case !r.ReadyToReport:
			b.NothingElse = false
			if r.Project == p.MasterURL {
				b.Unfinished++
			}
		case r.Project == p.MasterURL:
			b.Ready = append(b.Ready, finishedOf(r))
		}
	}
	return b
}

// decideFetch has workfetch choose. While a session is under way no other is
// begun to fetch work, since its answer changes what is missing.
func (a *Agent) decideFetch(now time.Time) {
	if len(a.talking) > 0 {
		return
	}
	l := a.look(true)
	s := workfetch.Snapshot{Now: now, CPUs: a.cpus(), Low: a.prefs.LowWater(), High: a.prefs.HighWater(), Jobs: l.jobs}
	progress := a.exec.Progress()
	for _, u := range l.urls {
		p, _ := a.db.Projects.Get(u)
		s.Projects = append(s.Projects, a.fetchView(p, progress))
	}
	decided := make(map[string]workfetch.Reason, len(s.Projects))
	for i, r := range workfetch.Choose(s) {
		u := s.Projects[i].URL
		if a.fetch[u].Code != r.Code {
			a.log.Debug("work fetch", "project", u, "decision", r.Code, "why", r.Text)
		}
		decided[u] = r
	}
	a.fetch = decided
}

// fetchView is what work fetch is shown of a project.
func (a *Agent) fetchView(p state.Project, progress map[string]executor.Progress) workfetch.Project {
	u := p.MasterURL
	acc := a.accounts[u]
	correction := a.correction(u, progress)
	v := workfetch.Project{
		URL: u, Share: acc.ResourceShare, Debt: a.debts.of[u],
		Counts:     !a.leaving[u] && !acc.NoMoreWork,
		NoCPUApps:  slices.Contains(p.NoRscApps, "CPU"),
		MinRPCTime: p.Contact.MinRPCTime, Backoff: p.Fetch.NextTry, BackoffWhy: p.Fetch.Why,
		Unreachable: unreachable(p), Latency: p.Latency, Correction: correction,
		JobTime: time.Duration(float64(a.stated(p.JobVersion, p.JobFpops)) * correction),
		Proved:  p.Estimates.Results > 0,
	}
	for _, t := range a.moving {
		v.Uploading = v.Uploading || t.file.Project == u && t.file.Output
	}
	for _, r := range a.db.Results.Of(u) {
		if r.State == protocol.ClientUploading {
			v.Uploads++
		}
		if max(r.Checkpoint.Fraction, progress[taskID(r)].Fraction) > 0.1 {
			v.Proved = true
		}
	}
	return v
}

// fetchMaster fetches a project's master page.
func (a *Agent) fetchMaster(p state.Project) {
	u := p.MasterURL
	a.talking[u] = "fetching the master page"
	delete(a.asked, u)
	a.log.Info("fetching master page", "project", u)
	go func() {
		urls, err := a.sched.MasterPage(a.ctx, u)
		a.post(func() { a.masterFetched(u, urls, err, time.Now()) })
	}()
}

func (a *Agent) masterFetched(u string, urls []string, err error, now time.Time) {
	delete(a.talking, u)
	p, ok := a.db.Projects.Get(u)
	if !ok {
		return
	}
	c := contactOf(p)
	if err != nil {
		c = c.MasterFailed(now, a.rng)
		p.Contact.LastError = err.Error()
		a.log.Warn("master page not usable, trying again", "project", u, "at", c.MinRPCTime, "error", err)
	} else {
		isNew := slices.ContainsFunc(urls, func(s string) bool { return !slices.Contains(p.SchedulerURLs, s) })
		c = c.MasterFetched(isNew)
		p.SchedulerURLs = urls
		p.Contact.LastError = ""
	}
	setContact(&p, c)
	a.save(func(tx *state.Tx) { a.db.Projects.Put(tx, u, p) })
}

// session begins a scheduler RPC. The sequence number is used up before the
// request leaves, so that no two requests ever carry the same.
func (a *Agent) session(p state.Project, reason string, now time.Time) {
	u := p.MasterURL
	fetch := a.fetch[u]
	req := a.request(p, fetch, now)
	delete(a.asked, u)
	if p.HostID != 0 {
		p.RPCSeqno++
	}
	p.Contact.NextRPCTime = time.Time{}
	if !a.save(func(tx *state.Tx) { a.db.Projects.Put(tx, u, p) }) {
		return
	}
	a.talking[u] = reason
	a.log.Info("contacting scheduler", "project", u, "why", reason, "reporting", len(req.Results), "work_seconds", req.CPUReqSeconds)
	first := a.rng.IntN(len(p.SchedulerURLs))
	go func() {
		reply, err := a.sched.Session(a.ctx, p.SchedulerURLs, first, req)
		a.post(func() { a.answered(u, req, reply, err, time.Now()) })
	}()
}

// answered makes a session's outcome durable, all of it at once.
func (a *Agent) answered(u string, req *protocol.SchedulerRequest, reply *protocol.SchedulerReply, err error, now time.Time) {
	delete(a.talking, u)
	p, ok := a.db.Projects.Get(u)
	if !ok || a.leaving[u] {
		return
	}
	if err != nil {
		c := contactOf(p).Failed(now, a.rng)
		setContact(&p, c)
		p.Contact.LastError = err.Error()
		a.log.Warn("no scheduler answered usably, trying again; computing continues", "project", u, "at", c.MinRPCTime, "failures", c.Failures, "error", err)
		a.save(func(tx *state.Tx) { a.db.Projects.Put(tx, u, p) })
		return
	}
	r := replier{a: a, project: p, req: req, reply: reply, now: now}
	if a.save(r.apply) {
		r.after()
	}
}

// contactOf and setContact carry what scheduler_op decides on to and from the
// durable record.
func contactOf(p state.Project) schedulerop.Contact {
	c := p.Contact
	return schedulerop.Contact{
		Failures: c.NRPCFailures, MasterFailures: c.MasterFailures,
		FetchMaster: c.FetchMaster, MinRPCTime: c.MinRPCTime,
	}
}

func setContact(p *state.Project, c schedulerop.Contact) {
	p.Contact.NRPCFailures, p.Contact.MasterFailures = c.Failures, c.MasterFailures
	p.Contact.FetchMaster, p.Contact.MinRPCTime = c.FetchMaster, c.MinRPCTime
}
