package agent

import (
	"context"
	"slices"
	"time"

	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// A conversation is one that is under way with a project's servers. Those with
// different projects know nothing of each other, and each has an end.
type conversation struct {
	view.Conversation
	cancel context.CancelFunc
}

// talk notes that a conversation begins. What it does must run under the context
// that is returned, and delete the note when it is over.
func (a *Agent) talk(project string, c view.Conversation) context.Context {
	ctx, cancel := context.WithCancel(a.ctx)
	a.talking[project] = conversation{c, cancel}
	return ctx
}

func (a *Agent) talks(project string) bool {
	_, talks := a.talking[project]
	return talks
}

// fallSilent notes that a conversation is over.
func (a *Agent) fallSilent(project string) {
	if t, talks := a.talking[project]; talks {
		t.cancel()
		delete(a.talking, project)
	}
}

// fetchMaster fetches a project's master page.
func (a *Agent) fetchMaster(p state.Project) {
	u := p.MasterURL
	ctx := a.talk(u, view.Conversation{About: "fetching the master page", Since: time.Now()})
	delete(a.asked, u)
	a.log.Info("fetching master page", logflag.Key, logflag.SchedOps, "project", u)
	go func() {
		urls, err := a.sched.MasterPage(ctx, u)
		a.post(func() { a.masterFetched(u, urls, err, time.Now()) })
	}()
}

func (a *Agent) masterFetched(u string, urls []string, err error, now time.Time) {
	a.fallSilent(u)
	p, ok := a.db.Projects.Get(u)
	if !ok || p.Ending.Due(time.Now()) {
		return
	}
	c := view.Contact(p)
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
func (a *Agent) session(p state.Project, reason string, d decide.Decision, now time.Time) {
	u := p.MasterURL
	req := a.request(p, d.Project(u).Fetch, d.Plan.Busy, now)
	delete(a.asked, u)
	if p.HostID != 0 {
		p.RPCSeqno++
	}
	p.Contact.NextRPCTime = time.Time{}
	if !a.save(func(tx *state.Tx) { a.db.Projects.Put(tx, u, p) }) {
		return
	}
	ctx := a.talk(u, view.Conversation{About: reason, Since: now, ForWork: req.WantsWork()})
	a.log.Info("contacting scheduler", logflag.Key, logflag.SchedOps, "project", u, "why", reason, "reporting", len(req.Results), "work_seconds", req.CPUReqSeconds)
	first := a.rng.IntN(len(p.SchedulerURLs))
	go func() {
		reply, err := a.sched.Session(ctx, p.SchedulerURLs, first, req)
		a.post(func() { a.answered(u, req, reply, err, time.Now()) })
	}()
}

// answered makes a session's outcome durable, all of it at once.
func (a *Agent) answered(u string, req *protocol.SchedulerRequest, reply *protocol.SchedulerReply, err error, now time.Time) {
	a.fallSilent(u)
	p, ok := a.db.Projects.Get(u)
	if !ok || p.Ending.Due(time.Now()) {
		return
	}
	if err != nil {
		c := view.Contact(p).Failed(now, a.rng)
		setContact(&p, c)
		p.Contact.LastError = err.Error()
		a.log.Warn("no scheduler answered usably, trying again; computing continues", "project", u, "at", c.MinRPCTime, "failures", c.Failures, "error", err)
		a.save(func(tx *state.Tx) { a.db.Projects.Put(tx, u, p) })
		return
	}
	a.log.Debug("scheduler answered", logflag.Key, logflag.SchedOpDebug, "project", u, "results", len(reply.Results), "files", len(reply.Files),
		"acknowledged", len(reply.ResultAcks), "aborts", len(reply.ResultAborts), "request_delay", reply.RequestDelay)
	kept, left := bounded(a.db, u, *reply)
	r := replier{a: a, project: p, req: req, reply: &kept, now: now}
	if r.project.LeftOut = left; left != "" {
		a.log.Warn("not all of the project's answer is taken", "project", u, "why", left)
	}
	a.tricklesDown(u, kept.TrickleDowns) // may come twice, must not be lost
	if !a.save(r.apply) {
		return
	}
	r.after()
	if reply.MessageAck {
		a.tricklesTaken(u, req.Trickles)
	}
}

// setContact puts what package contact decided into the durable record.
func setContact(p *state.Project, c contact.State) {
	p.Contact.NRPCFailures, p.Contact.MasterFailures = c.Failures, c.MasterFailures
	p.Contact.FetchMaster, p.Contact.MinRPCTime = c.FetchMaster, c.MinRPCTime
}
