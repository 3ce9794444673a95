package agent_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
)

// telling returns a reply that names a feed and has messages that need attention.
func telling(feedURL string, said ...string) answer {
	r := protocol.SchedulerReply{HostID: 7, ProjectName: "Demo", RequestDelay: 30 * time.Second, NextRPCDelay: time.Hour}
	if feedURL != "" {
		r.Feeds = []protocol.Feed{{URL: feedURL, Poll: 6 * time.Hour}}
	}
	for _, text := range said {
		r.Messages = append(r.Messages, protocol.Message{Priority: protocol.PriorityNotice, Text: text})
	}
	return answer{code: 200, body: r.Encode()}
}

// rss returns a feed with items of the given titles, the first the newest, written at the bubble's
// beginning of time.
func rss(titles ...string) answer {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><rss version="2.0"><channel><title>Demo</title>`)
	for i, title := range titles {
		at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Duration(i) * time.Hour)
		fmt.Fprintf(&b, "<item><title>%s</title><link>%snews#%d</link><guid>%s</guid><description><![CDATA[<p>About <b>%s</b>.</p><script>alert(1)</script>]]></description><pubDate>%s</pubDate></item>",
			title, demoURL, i, title, title, at.Format(time.RFC1123))
	}
	b.WriteString("</channel></rss>")
	return answer{code: http.StatusOK, body: []byte(b.String())}
}

// notices returns the notices that the agent shows, in one line.
func (w *world) notices(t *testing.T) string {
	t.Helper()
	all, err := w.a.Notices(t.Context(), "")
	must(t, err)
	var texts []string
	for _, n := range all {
		texts = append(texts, n.Kind+" "+n.Title+" "+n.Text)
	}
	return strings.Join(texts, "|")
}

const feedURL = demoURL + "download/news.xml" // the peer identifies downloads by their names

// News reach the volunteer as text. They are read as often as the project asks, but not while the
// network may not be used. They survive a restart.
func TestNews(t *testing.T) {
	t.Parallel()
	answers := withMaster(t, demoURL, telling(feedURL))
	answers["news.xml"] = []answer{rss("First"), {code: 500}, {code: 500}, {code: 500}, rss("Second", "First"), rss("Second")}
	w := newWorld(t, demoURL, answers, nil)
	w.run(func(t *testing.T) {
		w.after(t, time.Minute)
		if got := w.notices(t); got != "news First About First." {
			t.Errorf("at first: %s", got)
		}
		s := w.after(t, 0)
		if len(s.Notices) != 1 || s.Notices[0].Title != "First" || s.Notices[0].Text != "" || s.Notices[0].ProjectName != "Demo" || s.Notices[0].Link != demoURL+"news#0" {
			t.Errorf("status has %+v", s.Notices)
		}
		if w.after(t, 5*time.Hour); w.count("news.xml") != 1 {
			t.Errorf("the feed was read %d times in 5 hours", w.count("news.xml"))
		}
		w.stop()
		w.start(t)
		if got := w.notices(t); got != "news First About First." {
			t.Errorf("after a restart: %s", got)
		}
		if w.after(t, time.Minute); w.count("news.xml") != 1 {
			t.Errorf("a restart had the feed read again")
		}
		if w.after(t, 70*time.Minute); w.count("news.xml") != 5 { // the attempt that failed with its short retries, and the next
			t.Errorf("the feed was asked for %d times, want 5", w.count("news.xml"))
		}
		if got := w.notices(t); got != "news Second About Second.|news First About First." {
			t.Errorf("after a failure: %s", got)
		}
		must(t, w.a.SetMode(t.Context(), control.Network, prefs.Never, 0))
		if w.after(t, 12*time.Hour); w.count("news.xml") != 5 {
			t.Error("the feed was read though the network may not be used")
		}
		must(t, w.a.SetMode(t.Context(), control.Network, prefs.Auto, 0))
		w.after(t, time.Minute)
		if got := w.notices(t); got != "news Second About Second." {
			t.Errorf("what was withdrawn is shown: %s", got)
		}
		n := w.count("news.xml")
		must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
		if w.after(t, time.Minute); w.count("news.xml") != n+1 {
			t.Error("an update did not read the news")
		}
	})
}

// A feed with an address outside the web is not read. If the project drops a feed or is detached,
// the news disappear.
func TestFeedsComeAndGo(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, w *world){
		"dropped": func(t *testing.T, w *world) {
			must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
		},
		"detached": func(t *testing.T, w *world) {
			must(t, w.a.Detach(t.Context(), demoURL))
		},
	} {
		t.Run(name, func(t *testing.T) {
			answers := withMaster(t, demoURL, telling(feedURL), telling("ftp://127.0.0.1/download/news.xml"))
			answers["news.xml"] = []answer{rss("First")}
			w := newWorld(t, demoURL, answers, nil)
			w.run(func(t *testing.T) {
				w.after(t, time.Minute)
				if got := w.notices(t); got == "" {
					t.Fatal("no news")
				}
				end(t, w)
				if w.after(t, 10*time.Minute); w.notices(t) != "" || w.count("news.xml") > 2 { // an update reads it once more
					t.Errorf("left: %s; read %d times", w.notices(t), w.count("news.xml"))
				}
			})
		})
	}
}

// A message that needs attention is a notice until a request for work brings none.
func TestSchedulerNotices(t *testing.T) {
	t.Parallel()
	answers := withMaster(t, demoURL, telling("", "You need 24 GB more disk space."), telling("", "You need 3 GB more disk space."), telling(""))
	w := newWorld(t, demoURL, answers, nil)
	w.run(func(t *testing.T) {
		w.after(t, time.Minute)
		const want = "scheduler  You need 24 GB more disk space."
		if got := w.notices(t); got != want {
			t.Fatalf("got %s", got)
		}
		update := func() string {
			must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
			w.after(t, 2*time.Minute)
			return w.notices(t)
		}
		if got := update(); got != want {
			t.Errorf("other numbers: %s", got)
		}
		if got := update(); got != "" {
			t.Errorf("after a request for work without notices: %s", got)
		}
	})
}

// A project's links are kept until it sends others. Only those to the web are kept.
func TestGUIURLs(t *testing.T) {
	t.Parallel()
	page := func(name, url string) string {
		return "<gui_url><name>" + name + "</name><url>" + url + "</url></gui_url>"
	}
	reply := func(links string) answer {
		r := protocol.SchedulerReply{HostID: 7, ProjectName: "Demo", RequestDelay: 30 * time.Second, GUIURLs: links}
		return answer{code: 200, body: r.Encode()}
	}
	w := newWorld(t, demoURL, withMaster(t, demoURL, reply(page("A", "https://p.example/a")+page("B", "javascript:alert(1)")+page("C", "http://p.example/c")), reply(""), reply(page("D", "https://p.example/d"))), nil)
	w.run(func(t *testing.T) {
		for i, want := range []string{"[{A  https://p.example/a} {C  http://p.example/c}]", "[{A  https://p.example/a} {C  http://p.example/c}]", "[{D  https://p.example/d}]"} {
			if i > 0 {
				must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
			}
			if got := fmt.Sprint(w.project(t, time.Minute).GUIURLs); got != want {
				t.Errorf("after reply %d: %s, want %s", i+1, got, want)
			}
		}
	})
}

// A file that is not a feed costs nothing but a later attempt.
func TestNotAFeed(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]answer{
		"a login page": {code: 200, body: []byte("<!doctype html><html>Log in")},
		"too long":     {code: 200, body: []byte("<rss><channel>" + strings.Repeat("<item><title>x</title></item>", 60000) + "</channel></rss>")},
		"cut":          {code: 200, body: rss("First").body[:200], cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			answers := withMaster(t, demoURL, telling(feedURL))
			answers["news.xml"] = []answer{a}
			w := newWorld(t, demoURL, answers, nil)
			w.run(func(t *testing.T) {
				if w.after(t, 24*time.Hour); w.notices(t) != "" || w.project(t, 0).Trouble != "" {
					t.Errorf("notices %s, trouble %q", w.notices(t), w.project(t, 0).Trouble)
				}
				if n := w.count("news.xml"); n < 3 || n > 24 {
					t.Errorf("it was asked for %d times in a day", n)
				}
			})
		})
	}
}

// An account manager can disable notices of projects. They are then neither shown nor fetched until
// it enables them again.
func TestAManagerWantsNoNotices(t *testing.T) {
	t.Parallel()
	key := signingKey(t, "code_sign_private")
	answers := withMaster(t, demoURL, telling(feedURL, "Read this"))
	answers["news.xml"] = []answer{rss("First")}
	answers[manage] = []answer{
		managerReply(t, key, chosenURL, "<suspend>1</suspend>", "<no_project_notices/>"),
		managerReply(t, key, chosenURL, "<suspend>1</suspend>", ""),
	}
	w := newWorld(t, demoURL, answers, nil)
	w.run(func(t *testing.T) {
		w.after(t, time.Minute)
		if got := w.notices(t); !strings.Contains(got, "Read this") || !strings.Contains(got, "First") {
			t.Fatalf("before: %q", got)
		}
		must(t, w.a.JoinManager(t.Context(), managerURL, "Ann", "hash"))
		read := w.count("news.xml")
		if w.after(t, 7*time.Hour); w.notices(t) != "" || w.count("news.xml") != read {
			t.Errorf("shown: %q; the feed was read %d times, then %d", w.notices(t), read, w.count("news.xml"))
		}
		must(t, w.a.SyncManager(t.Context()))
		if w.after(t, time.Hour); !strings.Contains(w.notices(t), "First") || w.count("news.xml") == read {
			t.Errorf("wanted again: %q; the feed was read %d times", w.notices(t), w.count("news.xml"))
		}
	})
}
