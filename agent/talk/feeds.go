package talk

import (
	"html"
	"slices"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/decide/notices"
	"github.com/starling-grid/starling/internal/htmltext"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// FeedRead is an event: a feed of a project's news was read, or not.
type FeedRead struct {
	Project, URL string
	Items        []protocol.NewsItem
	Err          error
}

// Event names it.
func (FeedRead) Event() string { return "feed read" }

// ReadFeeds reads the feeds that are due, one at a time.
func (t *Talk) ReadFeeds(now time.Time, w *core.Waker) {
	if m, _ := t.DB.Managers.Get(state.Self); t.reading || m.NoNotices || t.Last.Snapshot.Network.Denied() {
		return
	}
	for u, p := range t.DB.Projects.All() {
		if p.Ending.Leaves() {
			continue
		}
		i, wake := notices.Due(feedsOf(p), now)
		if i >= 0 {
			t.readFeed(u, p.Feeds[i].URL)
			return
		}
		if !wake.IsZero() {
			w.By(wake)
		}
	}
}

func (t *Talk) readFeed(project, url string) {
	t.reading = true
	t.Log.Debug("reading the project's news", logflag.Key, logflag.Notice, "project", project)
	go func() {
		items, err := t.Sched.Feed(t.Ctx, url)
		t.Post(FeedRead{project, url, items, err})
	}()
}

// feedRead saves the content of a feed.
func (t *Talk) feedRead(e FeedRead, now time.Time) {
	t.reading = false
	p, ok := t.DB.Projects.Get(e.Project)
	i := slices.IndexFunc(p.Feeds, func(f state.Feed) bool { return f.URL == e.URL })
	if !ok || i < 0 {
		return // detached, or the project has dropped it
	}
	p.Feeds = slices.Clone(p.Feeds)
	if e.Err != nil {
		p.Feeds[i] = state.Feed(notices.Feed(p.Feeds[i]).Failed(now, t.Rand))
		t.Log.Info("cannot read the project's news; trying again", "project", e.Project, "at", p.Feeds[i].Next, "err", e.Err)
		t.PutProject(p)
		return
	}
	p.Feeds[i] = state.Feed(notices.Feed(p.Feeds[i]).Read(now))
	kept := t.noticesOf(e.Project)
	read := notices.Read(kept, e.Project, e.URL, itemsOf(e.Items), t.DB.NextNotice(), now)
	after := notices.Expire(read, feedsOf(p), now)
	ok = t.Save(func(tx *state.Tx) {
		t.DB.Projects.Put(tx, e.Project, p)
		t.putNotices(tx, kept, after)
	})
	if !ok {
		return
	}
	for _, n := range after {
		if !slices.ContainsFunc(kept, func(k notices.Notice) bool { return k.Seqno == n.Seqno }) {
			t.Log.Info("news from project", "project", e.Project, "title", n.Title)
		}
	}
}

// itemsOf makes items of a feed safe to be shown.
func itemsOf(all []protocol.NewsItem) []notices.Item {
	items := make([]notices.Item, 0, len(all))
	for _, v := range all {
		item := notices.Item{GUID: v.GUID, Title: htmltext.Title(v.Title, notices.MaxTitle), HTML: v.Description, Date: v.Date}
		if len(item.HTML) > notices.MaxHTML { // cut as a text: markup would be cut in the middle
			item.HTML = html.EscapeString(htmltext.Text(item.HTML, notices.MaxHTML/2))
		}
		if notices.Web(v.Link) {
			item.Link = v.Link
		}
		if item.Title != "" || item.HTML != "" {
			items = append(items, item)
		}
	}
	return items
}

// news adopts the feeds and pages of a project, and its messages that need attention.
func (r *replier) news(tx *state.Tx) {
	p := &r.project
	told := make([]notices.Feed, 0, len(r.reply.Feeds))
	for _, f := range r.reply.Feeds {
		told = append(told, notices.Feed{URL: f.URL, Poll: f.Poll})
	}
	feeds := notices.Feeds(feedsOf(*p), told)
	p.Feeds = nil
	for _, f := range feeds {
		p.Feeds = append(p.Feeds, state.Feed(f))
	}
	if r.reply.GUIURLs != "" {
		p.GUIURLs = nil
		for _, l := range protocol.ParseGUIURLs(r.reply.GUIURLs) {
			if notices.Web(l.URL) {
				p.GUIURLs = append(p.GUIURLs, state.GUIURL(l))
			}
		}
	}
	var said []string
	for _, m := range r.reply.Messages {
		if m.Priority == protocol.PriorityNotice {
			said = append(said, untranslated(m.Text))
		}
	}
	forWork := r.req.WantsWork() || r.req.WantsCoprocWork()
	kept := r.t.noticesOf(p.MasterURL)
	after := notices.Said(kept, p.MasterURL, said, forWork, r.t.DB.NextNotice(), r.now)
	r.t.putNotices(tx, kept, notices.Expire(after, feeds, r.now))
}

// FeedsDue returns a project whose feeds are all to be read now.
func FeedsDue(p state.Project) state.Project {
	p.Feeds = slices.Clone(p.Feeds)
	for i := range p.Feeds {
		p.Feeds[i].Next = time.Time{}
	}
	return p
}

func feedsOf(p state.Project) []notices.Feed {
	feeds := make([]notices.Feed, 0, len(p.Feeds))
	for _, f := range p.Feeds {
		feeds = append(feeds, notices.Feed(f))
	}
	return feeds
}

// noticesOf returns the kept notices of a project.
func (t *Talk) noticesOf(project string) (all []notices.Notice) {
	for _, n := range t.DB.Notices.Of(project) {
		all = append(all, notices.Notice(n))
	}
	return all
}

// putNotices saves the changes to the notices of a project.
func (t *Talk) putNotices(tx *state.Tx, before, after []notices.Notice) {
	for _, n := range before {
		if !slices.Contains(after, n) {
			t.DB.Notices.Delete(tx, state.Notice(n).Key())
		}
	}
	for _, n := range after {
		if !slices.Contains(before, n) {
			t.DB.Notices.Put(tx, state.Notice(n).Key(), state.Notice(n))
		}
	}
}
