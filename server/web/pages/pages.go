// Package pages serves the pages of a project for people: its site, their accounts and computers.
// It makes no decisions about work.
package pages

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/look"
	"github.com/starling-grid/starling/internal/negotiate"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/badge"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/mail"
	"github.com/starling-grid/starling/server/ranking"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/account"
	"github.com/starling-grid/starling/server/web/articles"
	"github.com/starling-grid/starling/server/web/counts"
)

// A Config describes the project that the pages are for.
type Config struct {
	Name       string
	Schedulers []string   // where clients reach the scheduler
	Roles      []string   // that this process has
	Mail       *mail.Post // nil: the project sends no mail
	Gate       *account.Gate
	Counts     *counts.Cache
	Standings  *ranking.Cache
	Articles   articles.Folder
	Badges     badge.Ladder
	Store      *store.Store
	Log        *slog.Logger
	API        http.Handler // the project's API, by its whole paths
}

// Pages are the pages of a project. They may be asked concurrently.
type Pages struct {
	Config
	base      string            // path of all pages
	forgotten limit.Rate[int64] // links mailed to an account because somebody asked for a new password
	links     limit.Rate[int64] // mailed to an account at its owner's request
	founded   limit.Rate[int64] // teams, by an account
	mailing   chan struct{}     // a place for each mail that is being sent
}

// New returns the pages of a project.
func New(c Config) *Pages {
	base := "/"
	if u, err := url.Parse(c.Gate.MasterURL); err == nil {
		base = u.Path
	}
	p := &Pages{Config: c, base: base, forgotten: limit.Rate[int64]{Burst: 3, Every: time.Hour}, links: limit.Rate[int64]{Burst: 3, Every: time.Hour}, founded: limit.Rate[int64]{Burst: 3, Every: 24 * time.Hour}, mailing: make(chan struct{}, maxMailing)}
	c.Gate.Made = p.welcome
	return p
}

// Routes returns the handlers for the paths below the project's URL. A path may be preceded by a
// method, which is otherwise GET or POST.
func (p *Pages) Routes() map[string]http.HandlerFunc {
	routes := map[string]http.HandlerFunc{
		"GET {$}":           p.home,
		"GET join":          p.join,
		"GET read":          p.read,
		"GET news":          p.news,
		"signup":            p.signup,
		"login":             p.login,
		"POST logout":       p.logout,
		"forgot":            p.forgot,
		"reset":             p.reset,
		"email":             p.member(p.email),
		"confirm":           p.confirm,
		"account":           p.member(p.account),
		"settings":          p.member(p.settings),
		"preferences":       p.member(p.preferences),
		"GET computers":     p.computers,
		"computer":          p.computer,
		"GET task":          p.task,
		"GET leaders":       p.leaders,
		"teams":             p.teams,
		"team":              p.team,
		"GET user":          p.user,
		"batches":           p.batches,
		"batches/{id}":      p.batch,
		"GET status":        p.status,
		"server_status.php": p.status, // where BOINC's tools look for it, some by POST
		"{path...}":         p.nothing,

		// These send a file, or a page with the reason why not.
		"GET account.json":             p.member(p.ownData),
		"GET batches/{id}/outputs.zip": p.outputs,
	}
	for path, h := range routes {
		routes[path] = negotiate.Language(h).ServeHTTP
	}
	maps.Copy(routes, map[string]http.HandlerFunc{
		"GET news.xml":      p.rss,
		"GET rss_main.php":  p.rss, // where BOINC's tools look for it
		"GET base.css":      look.Base,
		"GET style.css":     style,
		"GET icon.svg":      p.icon,
		"GET badges/{name}": p.badge,
		"GET theme.css":     p.siteFile,
		"GET images/{name}": p.siteFile,
	})
	return routes
}

// titles are the headings of the pages, where their data does not have one. The home page has the
// project's name alone.
var titles = map[string]words.Text{
	"account.html":     words.T("Your account"),
	"batches.html":     words.T("Batches"),
	"computers.html":   words.T("Computers"),
	"confirm.html":     words.T("Confirm your e-mail address"),
	"email.html":       words.T("New e-mail address"),
	"forgot.html":      words.T("Forgotten password"),
	"join.html":        words.T("Join"),
	"leaders.html":     words.T("Leaderboards"),
	"login.html":       words.T("Log in"),
	"news.html":        words.T("News"),
	"preferences.html": words.T("Preferences"),
	"reset.html":       words.T("New password"),
	"settings.html":    words.T("Settings"),
	"signup.html":      words.T("Sign up"),
	"status.html":      words.T("Project status"),
	"teams.html":       words.T("Teams"),
}

// A tab is one of a row of pages.
type tab struct {
	Path string
	Text words.Text
}

// links are the pages in every page's head, after the project's own.
var links = []tab{
	{"join", words.T("Join")}, {"news", words.T("News")}, {"leaders", words.T("Leaderboards")}, {"teams", words.T("Teams")}, {"status", words.T("Status")}, {"account", words.T("Your account")},
}

// tabs are the pages of an account.
var tabs = []tab{{"account", words.T("Overview")}, {"computers", words.T("Computers")}, {"preferences", words.T("Preferences")}, {"settings", words.T("Settings")}}

// show sends a page in the request's language, complete or not at all. In addition to its own data, a
// page may have a Title, an Error and something Said, which are shown above the rest, and Here, the
// page of a row that it is.
func (p *Pages) show(w http.ResponseWriter, r *http.Request, code int, name string, data map[string]any) {
	l := words.LanguageOf(r.Context())
	if data["Title"] == nil {
		data["Title"] = titles[name]
	}
	if data["Here"] == nil {
		data["Here"] = strings.TrimSuffix(name, ".html")
	}
	if data["Tabs"] == nil {
		data["Tabs"] = tabs
	}
	for key, v := range data {
		switch v := v.(type) {
		case words.Text:
			data[key] = v.In(l)
		case *account.Refusal:
			data[key] = refused(v, l)
		}
	}
	if data["Error"] != nil {
		delete(data, "Said") // it was not done
	}
	data["Project"], data["Base"], data["Links"], data["Menu"], data["Themed"], data["Badges"] = p.Name, p.base, links, p.Articles.Menu(), p.Articles.Themed(), p.Badges
	var b bytes.Buffer
	if err := templates()[l].ExecuteTemplate(&b, name, data); err != nil {
		p.fail(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes())
}

// fail answers that something does not work which the operator has to mend. A visitor who is not logged in,
// or not any more, is asked to log in.
func (p *Pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, account.ErrSession) {
		w.Header().Set("Location", p.Gate.MasterURL+"login")
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	p.Log.Error("page failed", "err", err)
	unavailable(w, r)
}

// unavailable answers that a page cannot be shown now. The log has the cause.
func unavailable(w http.ResponseWriter, r *http.Request) {
	http.Error(w, Unavailable.In(words.LanguageOf(r.Context())), http.StatusServiceUnavailable)
}

// Foreign refuses a request that another site's page seems to have made.
func Foreign(w http.ResponseWriter, r *http.Request) {
	http.Error(w, words.T("This form was sent from another site, so nothing was changed. Open the project's own page and try again. If you were there, the project's proxy changes the Host header: ask its operator to pass it on.").In(words.LanguageOf(r.Context())), http.StatusForbidden)
}

// missing answers that the requested name or number does not exist.
func (p *Pages) missing(w http.ResponseWriter, r *http.Request, what words.Text) {
	p.show(w, r, http.StatusNotFound, "read.html", map[string]any{"Title": words.T("Not found"), "Error": what, "Article": articles.Article{}})
}

// nothing answers requests for all other paths.
func (p *Pages) nothing(w http.ResponseWriter, r *http.Request) {
	p.missing(w, r, words.T("The project has no page of this name."))
}

// style serves the site's additions to the style sheet that it shares with the agent's dashboard.
func style(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "max-age=3600")
	http.ServeFileFS(w, r, pageFiles, "html/style.css")
}

// badge sends a badge's picture, for sites of statistics.
func (p *Pages) badge(w http.ResponseWriter, r *http.Request) {
	for _, b := range p.Badges.All() {
		if b.Image() == r.PathValue("name") {
			w.Header().Set("Content-Type", "image/svg+xml")
			w.Header().Set("Cache-Control", "max-age=3600")
			_, _ = io.WriteString(w, string(b.SVG(words.English)))
			return
		}
	}
	http.NotFound(w, r)
}

// Unavailable is the message shown if the database, or something else that a page needs, does not
// answer. The log has the cause.
var Unavailable = words.T("The project cannot answer now. Try again later.")
