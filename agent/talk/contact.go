package talk

import (
	"context"
	"slices"
	"time"

	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
	"github.com/starling-grid/starling/state"
)

// A conversation is one in progress with a project's servers. Conversations with different projects
// are independent, and each ends.
type conversation struct {
	view.Conversation
	cancel context.CancelFunc
	asked  bool                   // a person wanted the project contacted
	woken  bool                   // it had announced new work
	along  map[resource.Kind]bool // work for these is asked for along with other things, during their wait
}

// talk records the start of a conversation. The conversation must run under the returned context,
// and delete the record when it is over.
func (t *Talk) talk(project string, c view.Conversation) context.Context {
	ctx, cancel := context.WithCancel(t.Ctx)
	t.sessions[project] = conversation{Conversation: c, cancel: cancel, asked: t.asked[project]}
	return ctx
}

// Talks reports whether there is a conversation with a project.
func (t *Talk) Talks(project string) bool {
	_, talks := t.sessions[project]
	return talks
}

// endSession notes that a conversation is over.
func (t *Talk) endSession(project string) {
	if c, talks := t.sessions[project]; talks {
		c.cancel()
		delete(t.sessions, project)
	}
}

// Cancel breaks a conversation off, and reports whether there was one.
func (t *Talk) Cancel(project string) bool {
	c, talks := t.sessions[project]
	if talks {
		c.cancel()
	}
	return talks
}

// fetchMaster fetches a project's master page.
func (t *Talk) fetchMaster(p state.Project) {
	u := p.MasterURL
	ctx := t.talk(u, view.Conversation{About: words.T("fetching the master page"), Since: time.Now()})
	delete(t.asked, u)
	t.Log.Info("fetching master page", logflag.Key, logflag.SchedOps, "project", u)
	go func() {
		urls, err := t.Sched.MasterPage(ctx, u)
		t.Post(MasterFetched{u, urls, err})
	}()
}

func (t *Talk) masterFetched(u string, urls []string, err error, now time.Time) {
	asked := t.sessions[u].asked
	t.endSession(u)
	p, ok := t.DB.Projects.Get(u)
	if !ok || p.Ending.Due(time.Now()) {
		return
	}
	c := view.Contact(p, now)
	if err != nil {
		c = c.MasterFailed(now, t.Rand)
		setTrouble(&p, schedulerop.Diagnose(err, u, now), now)
		t.Log.Warn("cannot fetch the master page; trying again", "project", u, "at", c.MinRPCTime, "trouble", p.Contact.Trouble.Code, "err", err)
	} else {
		isNew := slices.ContainsFunc(urls, func(s string) bool { return !slices.Contains(p.SchedulerURLs, s) })
		c = c.MasterFetched(isNew)
		p.SchedulerURLs = urls
		setTrouble(&p, reason.Reason{}, now)
		if asked {
			t.asked[u] = true
		}
	}
	setContact(&p, c)
	t.Save(func(tx *state.Tx) { t.DB.Projects.Put(tx, u, p) })
}

// session starts a scheduler RPC. The sequence number is used up before the
// request leaves, so that no two requests ever carry the same.
func (t *Talk) session(p state.Project, why words.Text, d decide.Decision, now time.Time) {
	u := p.MasterURL
	req := t.request(p, d, now)
	if p.HostID != 0 {
		p.RPCSeqno++
	}
	p.Contact.NextRPCTime = time.Time{}
	if !t.Save(func(tx *state.Tx) { t.DB.Projects.Put(tx, u, p) }) {
		return
	}
	ctx := t.talk(u, view.Conversation{About: why, Since: now, ForWork: req.WantsWork() || req.WantsCoprocWork()})
	c := t.sessions[u]
	c.along, c.woken = along(d.Project(u).Fetch), t.wakened(u)
	t.sessions[u] = c
	delete(t.asked, u)
	t.Log.With(coprocSeconds(req)).Info("contacting scheduler", logflag.Key, logflag.SchedOps, "project", u, "why", why.String(), "reporting", len(req.Results), "work_seconds", req.CPUReqSeconds)
	first := t.Rand.IntN(len(p.SchedulerURLs))
	go func() {
		reply, err := t.Sched.Session(ctx, p.SchedulerURLs, first, req)
		t.Post(Answered{u, req, reply, err})
	}()
}

// tooSoon is the time after a contact during which another one comes too soon: servers refuse work to a
// client that returns within seconds.
const tooSoon = time.Minute

// answered makes a session's outcome durable, all of it at once.
func (t *Talk) answered(u string, req *protocol.SchedulerRequest, reply *protocol.SchedulerReply, err error, now time.Time) {
	was := t.sessions[u]
	asked := was.asked
	t.endSession(u)
	p, ok := t.DB.Projects.Get(u)
	if !ok || p.Ending.Due(time.Now()) {
		return
	}
	if err != nil {
		c := view.Contact(p, now).Failed(now, t.Rand)
		setContact(&p, c)
		setTrouble(&p, schedulerop.Diagnose(err, u, now), now)
		t.Log.Warn("no usable reply from the scheduler; trying again, and computing continues", "project", u, "at", c.MinRPCTime, "failures", c.Failures, "trouble", p.Contact.Trouble.Code, "err", err)
		t.Save(func(tx *state.Tx) { t.DB.Projects.Put(tx, u, p) })
		return
	}
	t.dated(u, reply.Date, now)
	t.Log.Debug("scheduler replied", logflag.Key, logflag.SchedOpDebug, "project", u, "results", len(reply.Results), "files", len(reply.Files),
		"acknowledged", len(reply.ResultAcks), "aborts", len(reply.ResultAborts), "request_delay", reply.RequestDelay)
	kept, left := bounded(t.DB, u, *reply)
	ahead := t.Ahead(now)[u]
	for i := range kept.Refusals {
		if f := &kept.Refusals[i]; !f.Until.IsZero() {
			f.Until = f.Until.Add(ahead)
		}
	}
	r := replier{t: t, project: p, req: req, reply: &kept, now: now, ahead: ahead, along: was.along, woken: was.woken, tooSoon: asked && now.Sub(p.Contact.LastRPC) < tooSoon}
	if r.project.LeftOut = left; left != "" {
		t.Log.Warn("part of the project's reply was rejected", "project", u, "why", left)
	}
	t.Life.TricklesDown(u, kept.TrickleDowns) // may come twice, must not be lost
	if !t.Save(r.apply) {
		return
	}
	r.after()
	t.offered(r.project, kept.WorkEvents)
	if e := t.events[u]; e != nil && len(r.usable) > 0 {
		e.state = e.state.Served()
	}
	if reply.MessageAck {
		t.Life.TricklesTaken(u, req.Trickles)
	}
}

// setContact puts what package contact decided into the durable record.
func setContact(p *state.Project, c contact.State) {
	p.Contact.NRPCFailures, p.Contact.MasterFailures = c.Failures, c.MasterFailures
	p.Contact.FetchMaster, p.Contact.MinRPCTime = c.FetchMaster, c.MinRPCTime
}

// setTrouble records the trouble between this computer and a project, or that there is none.
func setTrouble(p *state.Project, is reason.Reason, now time.Time) {
	if is.Is() {
		is = is.After(view.Trouble(*p), now)
	}
	p.Contact.LastError, is.Detail = is.Detail, ""
	p.Contact.Trouble = is
}

// keepReported remembers a reported result for tools, for a while.
func (t *Talk) keepReported(r state.Result, now time.Time) {
	u, _ := t.DB.Units.Get(state.Key(r.Project, r.WorkunitName))
	for len(t.recentlyReported) > 0 && now.Sub(t.recentlyReported[0].Created) >= view.OldKept {
		t.recentlyReported = t.recentlyReported[1:]
	}
	t.recentlyReported = append(t.recentlyReported, view.OldResult{
		Project: r.Project, Name: r.Name, App: u.AppName, ExitStatus: r.ExitStatus,
		Elapsed: r.Elapsed, CPUTime: r.CPUTime, Completed: r.Completed, Created: now,
	})
}
