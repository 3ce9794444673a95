package talk

import (
	"log/slog"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
	"github.com/starling-grid/starling/workfetch"
)

// A replier applies one scheduler reply, as one transaction.
type replier struct {
	t       *Talk
	project state.Project
	req     *protocol.SchedulerRequest
	reply   *protocol.SchedulerReply
	now     time.Time
	ahead   time.Duration // how much later that is than the time by the server's clock

	acked   int
	along   map[resource.Kind]bool // asked for during its wait, along with other things
	woken   bool                   // the project had announced new work
	tooSoon bool                   // a person had the project contacted again right after a contact
	added   int
	usable  map[resource.Kind]int // of these, by the processor they compute on
	done    []state.Result        // acknowledged
	prefs   bool                  // the computing preferences are new
	aborted []state.Result        // still running, to be stopped once the reply is saved
	log     []slog.Record         // written once the reply is saved
}

// apply changes the state according to the reply. It ignores changes that a reply must not make,
// such as to results of another project or to ones not yet reported.
func (r *replier) apply(tx *state.Tx) {
	r.acked, r.added, r.usable, r.prefs, r.aborted, r.log = 0, 0, make(map[resource.Kind]int), false, nil, nil
	r.done = nil
	before := r.project
	p := &r.project
	p.Contact.LastRPC = r.now
	r.messages()
	if r.reply.ProjectIsDown {
		// Nothing else in such a reply counts.
		c := view.Contact(*p, r.now).Failed(r.now, r.t.Rand)
		if t := r.now.Add(min(r.reply.RequestDelay, contact.MaxRequestDelay)); t.After(c.MinRPCTime) {
			c.MinRPCTime = t
		}
		setContact(p, c)
		said := strings.Join(said(r.reply.Messages), "; ")
		setTrouble(p, reason.Reason{Code: reason.Maintenance, About: said, Detail: "the project is down for maintenance"}, r.now)
		r.t.DB.Projects.Put(tx, p.MasterURL, *p)
		return
	}
	p.Contact.Initialized = true
	var trouble reason.Reason
	if len(r.reply.Results) == 0 {
		trouble = reason.OfReply(r.codes(), said(r.reply.Messages))
		if was := view.Trouble(before); !trouble.Is() && was.OfWork() && !r.req.WantsWork() && !r.req.WantsCoprocWork() {
			trouble = was // this reply has no information about it
		}
	}
	setContact(p, view.Contact(*p, r.now).Succeeded(r.now, r.reply.RequestDelay))
	if d := r.reply.NextRPCDelay; d > 0 {
		p.Contact.NextRPCTime = r.now.Add(d)
	}
	if !trouble.Is() && r.moved() {
		trouble = reason.Reason{Code: reason.Moved, About: r.reply.MasterURL, Detail: "the project reports a different address"}
	}
	r.identity(tx)
	r.key()
	r.news(tx)
	if r.acknowledged(tx); len(r.req.Results) > 0 && r.acked == 0 {
		// A server that acknowledges nothing is not put under pressure: its answer counts, but the
		// next contact also waits as if there had been none.
		c, asked := view.Contact(before, r.now).Failed(r.now, r.t.Rand), p.Contact.MinRPCTime
		if c.MinRPCTime.Before(asked) {
			c.MinRPCTime = asked
		}
		setContact(p, c)
		if !trouble.Refusal() || trouble.OfWork() { // or that is why
			trouble = reason.Reason{Code: reason.NotAcknowledged, Detail: "the server acknowledged none of the reported results"}
		}
	}
	setTrouble(p, trouble, r.now)
	r.aborts(tx)
	r.work(tx)
	r.fetched()
	r.t.DB.Projects.Put(tx, p.MasterURL, *p)
}

// after does what must wait until the reply is saved.
func (r *replier) after() {
	h := r.t.Log.Handler()
	for _, rec := range r.log {
		if h.Enabled(r.t.Ctx, rec.Level) {
			_ = h.Handle(r.t.Ctx, rec) // a log that cannot be written has nowhere to complain
		}
	}
	for _, res := range r.aborted {
		r.t.Life.AbortByProject(res)
	}
	for _, res := range r.done {
		r.t.keepReported(res, r.now)
	}
	if r.prefs {
		r.t.Rules.MergePrefs()
		r.t.Log.Info("using new computing preferences from the project's web site", "project", r.project.MasterURL)
	}
	r.t.Files.Stale()
}

// say adds a line to the log, which is written once the reply is saved.
func (r *replier) say(warn bool, msg string, args ...any) {
	level := slog.LevelInfo
	if warn {
		level = slog.LevelWarn
	}
	rec := slog.NewRecord(r.now, level, msg, 0)
	rec.Add("project", r.project.MasterURL)
	rec.Add(args...)
	r.log = append(r.log, rec)
}

func (r *replier) messages() {
	r.project.Messages = nil
	for _, m := range r.reply.Messages {
		text := untranslated(m.Text)
		r.say(m.Priority == protocol.PriorityNotice, "message from project", "text", text)
		r.project.Messages = append(r.project.Messages, state.Message{Time: r.now, Priority: m.Priority, Text: text})
	}
}

// untranslated takes the marks off a text that BOINC's server leaves to clients
// to translate: _("text").
func untranslated(s string) string {
	s = strings.ReplaceAll(s, `_("`, "")
	return strings.ReplaceAll(s, `")`, "")
}

// identity adopts our identity in the project: host, user, team, venue and credit.
func (r *replier) identity(tx *state.Tx) {
	p, reply := &r.project, r.reply
	if reply.ProjectName != "" {
		p.Name = reply.ProjectName
	}
	if r.moved() {
		// BOINC's 8.x clients move over and drop all work. A wrong setting on a server must not
		// cost results.
		r.say(true, "the project reports a different address; keeping the current one", "theirs", reply.MasterURL)
	}
	if reply.HostID != 0 {
		p.HostID, p.RPCSeqno = reply.HostID, 0
		r.say(false, "host id assigned", "host", reply.HostID)
	}
	if u := reply.User; u != nil {
		p.UserID, p.UserName, p.TeamName, p.EmailHash = u.ID, u.Name, u.TeamName, u.EmailHash
		p.UserTotalCredit, p.UserExpavgCredit = u.TotalCredit, u.ExpavgCredit
		if h, ok := r.t.DB.Hosts.Get(state.Self); ok && h.CrossProject == "" && u.CrossProjectID != "" {
			h.CrossProject = u.CrossProjectID
			r.t.DB.Hosts.Put(tx, state.Self, h)
		}
	}
	if h := reply.Host; h != nil {
		p.HostTotalCredit, p.HostExpavgCredit = h.TotalCredit, h.ExpavgCredit
		if h.Venue != nil {
			p.Venue = *h.Venue
		}
	}
	r.prefs = r.t.Rules.TakePrefs(tx, p.MasterURL, reply.GlobalPrefs, r.now)
	if reply.User != nil || reply.Host != nil {
		p.Statistics = state.AddCredit(p.Statistics, r.now, state.DailyCredit{
			UserTotal: p.UserTotalCredit, UserExpavg: p.UserExpavgCredit, HostTotal: p.HostTotalCredit, HostExpavg: p.HostExpavgCredit,
		})
	}
	if reply.ProjectPrefs != "" {
		p.ProjectPrefs = reply.ProjectPrefs
	}
	p.StrictMemory, p.NonCPUIntensive, p.TakesEnergy = reply.StrictMemoryBound, reply.NonCPUIntensive, reply.TakesEnergy
	if !p.Anonymous { // otherwise the volunteer's programs determine that
		p.NoRscApps = reply.NoRscApps
	}
}

// moved reports whether the project gives another address. http or https makes no difference.
func (r *replier) moved() bool {
	bare := func(u string) string {
		u = strings.ToLower(strings.TrimSuffix(u, "/"))
		return strings.TrimPrefix(strings.TrimPrefix(u, "http://"), "https://")
	}
	return r.reply.MasterURL != "" && bare(r.reply.MasterURL) != bare(r.project.MasterURL)
}

// key takes the project's code signing key: the first one on trust, another one
// only with the old one's signature.
func (r *replier) key() {
	p, offered := &r.project, r.reply.CodeSignKey
	switch {
	case offered == "":
	case p.CodeSignKey == "":
		if _, err := protocol.ParsePublicKey(offered); err != nil {
			r.say(true, "the project sent an unusable code signing key", "err", err)
			return
		}
		p.CodeSignKey = offered
	case sameKey(p.CodeSignKey, offered):
	default:
		if err := protocol.AcceptNewKey(p.CodeSignKey, offered, r.reply.CodeSignKeySignature); err != nil {
			r.say(true, "rejecting a new code signing key; keeping the known one", "err", err)
			return
		}
		p.CodeSignKey = offered
		r.say(true, "the project has a new code signing key, signed by the old one")
	}
}

func sameKey(a, b string) bool {
	x, errX := protocol.ParsePublicKey(a)
	y, errY := protocol.ParsePublicKey(b)
	return errX == nil && errY == nil && x.Text() == y.Text()
}

// fetched records the outcome of a request for work, for each kind of processor that it was for.
func (r *replier) fetched() {
	if r.req.DontSendWork {
		return
	}
	if r.req.CPUReqSeconds > 0 || r.req.WantsCoprocWork() {
		r.project.Fetch.AskedAt, r.project.Fetch.Got = r.now, r.added
	}
	if r.req.CPUReqSeconds > 0 {
		r.fetchedFor(resource.CPU)
	}
	for _, c := range r.req.Coprocs {
		if c.WantsWork() {
			r.fetchedFor(resource.Kind(c.Kind))
		}
	}
}

func (r *replier) fetchedFor(k resource.Kind) {
	s, refused := r.project.Stream(k), r.refusals(k)
	if r.tooSoon && r.usable[k] == 0 && len(refused) == 0 {
		return // no information about the project's work: it is asked again after the pause that it wants
	}
	if r.usable[k] == 0 && (r.along[k] || r.woken && r.now.Before(s.NextTry)) {
		return // nothing new, however many such sessions there are
	}
	early := len(refused) > 0
	for _, f := range refused {
		early = early && f.Code == protocol.RefusedTooRecent
	}
	if early && r.usable[k] == 0 { // no information about the project's work either
		s.NextTry, s.Why, s.Refused = r.until(refused), "", kept(refused)
		r.project.SetStream(k, s)
		return
	}
	s.Retry = state.Retry(workfetch.Backoff(s.Retry).Asked(r.now, r.usable[k], r.t.Ledger.Of[r.project.MasterURL] > 0, r.t.Rand))
	s.Why, s.Refused = "", nil
	if r.usable[k] == 0 {
		if over := r.until(refused); over.After(s.NextTry) {
			s.NextTry = over.Add(time.Duration(r.t.Rand.Int64N(int64(spread)))) // not all computers at once
		}
		s.Refused = kept(refused)
		if said := said(r.reply.Messages); len(said) > 0 {
			s.Why = "The last request brought no work (" + strings.Join(said, "; ") + ")"
		}
	}
	r.project.SetStream(k, s)
}

// spread is the time over which requests that had to wait for the same moment are divided.
const spread = 10 * time.Minute

// refusals returns a reply's refusals about a kind of processor.
func (r *replier) refusals(k resource.Kind) (all []protocol.Refusal) {
	for _, f := range r.reply.Refusals {
		if f.Kind == "" || f.Kind == string(k) {
			all = append(all, f)
		}
	}
	return all
}

// codes returns the codes of the refusals that apply to all of the project's work, or to programs
// that this computer would need for some of it.
func (r *replier) codes() (all []string) {
	for _, f := range r.reply.Refusals {
		if f.App == "" || f.Code == protocol.RefusedVirtualBox || f.Code == protocol.RefusedContainers {
			all = append(all, string(f.Code))
		}
	}
	return all
}

// until returns the time when refusals end without action, a day from now at the latest. It is zero
// if the end of one of them is unknown.
func (r *replier) until(refused []protocol.Refusal) (end time.Time) {
	for i, f := range refused {
		if i == 0 || f.Until.Before(end) {
			end = f.Until
		}
	}
	if most := r.now.Add(24 * time.Hour); end.After(most) {
		return most
	}
	return end
}

// kept returns the refusals of an answer that are stored, the most important first.
func kept(refused []protocol.Refusal) (all []reason.Reason) {
	for _, f := range refused[:min(len(refused), workfetch.MaxRefused)] {
		all = append(all, reason.Reason{
			Code: reason.Code(f.Code), App: short(f.App), Kind: short(f.Kind), Need: f.Need, Have: f.Have, Until: f.Until, Detail: short(f.Detail),
		})
	}
	return all
}

// short returns the beginning of a text that becomes a part of a sentence.
func short(s string) string { return strings.ToValidUTF8(s[:min(len(s), workfetch.MaxName)], "") }

// said returns a reply's messages in the form that people read.
func said(messages []protocol.Message) []string {
	texts := make([]string, 0, len(messages))
	for _, m := range messages {
		texts = append(texts, untranslated(m.Text))
	}
	return reason.Messages(texts)
}
