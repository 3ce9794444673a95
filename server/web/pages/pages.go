// Package pages serves the pages of a project for people: its site, their accounts and computers.
// It makes no decisions about work.
package pages

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/look"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/badge"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/mail"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/ranking"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/account"
	"github.com/starling-grid/starling/server/web/articles"
	"github.com/starling-grid/starling/server/web/counts"
)

//go:embed html
var pageFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"when": func(t time.Time) string {
		if t.Unix() <= 0 {
			return "never"
		}
		return t.UTC().Format("2006-01-02 15:04")
	},
	"device":  device,
	"called":  called,
	"day":     func(t time.Time) string { return t.UTC().Format("2006-01-02") },
	"ago":     func(day time.Time) string { return ago(day, time.Now().UTC()) },
	"count":   look.Count,
	"number":  number,
	"rank":    func(i int) int { return i + 1 },
	"bytes":   words.Bytes[float64],
	"label":   func(name string) string { return strings.ReplaceAll(name, "_", " ") },
	"seconds": func(n int64) float64 { return float64(n) },
	"span":    func(seconds float64) string { return words.Span(protocol.Seconds(seconds)) },
}).ParseFS(pageFiles, "html/*.html"))

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
	base    string            // path of all pages
	links   limit.Rate[int64] // mailed to an account whose password was forgotten
	founded limit.Rate[int64] // teams, by an account
	mailing chan struct{}     // a place for each mail that is being sent
}

// New returns the pages of a project.
func New(c Config) *Pages {
	base := "/"
	if u, err := url.Parse(c.Gate.MasterURL); err == nil {
		base = u.Path
	}
	p := &Pages{Config: c, base: base, links: limit.Rate[int64]{Burst: 3, Every: time.Hour}, founded: limit.Rate[int64]{Burst: 3, Every: 24 * time.Hour}, mailing: make(chan struct{}, maxMailing)}
	c.Gate.Made = p.welcome
	return p
}

// Routes returns the handlers for the paths below the project's URL. A path may be preceded by a
// method.
func (p *Pages) Routes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET {$}":           p.home,
		"GET join":          p.join,
		"GET read":          p.read,
		"GET news":          p.news,
		"GET news.xml":      p.rss,
		"GET rss_main.php":  p.rss, // where BOINC's tools look for it
		"GET base.css":      look.Base,
		"GET style.css":     style,
		"GET icon.svg":      p.icon,
		"GET badges/{name}": p.badge,
		"GET theme.css":     p.siteFile,
		"GET images/{name}": p.siteFile,
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
		"GET account.json":  p.member(p.ownData),
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

		"GET batches/{id}/outputs.zip": p.outputs,

		"server_status.php": p.status, // where BOINC's tools look for it, some by POST
	}
}

// device names the coprocessors of one kind: 2 × NVIDIA GeForce RTX 3060 (12 GB).
func device(c store.Coproc) string {
	name := c.Name
	if name == "" {
		name = match.DeviceName(c.Kind)
	}
	if c.Count > 1 {
		name = fmt.Sprintf("%d × %s", c.Count, name)
	}
	if c.Memory > 0 {
		name += " (" + words.Bytes(c.Memory).String() + ")"
	}
	return name
}

// called returns the owner's name for a computer.
func called(h store.Host) string {
	return cmp.Or(h.Label, h.DomainName, fmt.Sprintf("Computer %d", h.ID))
}

// number writes credit: 1,234,567, or 12.34 if it is little.
func number(v float64) string {
	if v < 1000 {
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return words.Number(int64(math.Round(v))).String()
}

// ago formats a day relative to now, for readers of news.
func ago(day, now time.Time) string {
	switch n := -words.Days(day, now); {
	case n == 0:
		return "today"
	case n == 1:
		return "yesterday"
	case n > 1 && n < 7:
		return fmt.Sprintf("%d days ago", n)
	case day.Year() == now.Year():
		return day.Format("2 Jan")
	}
	return day.Format("2 Jan 2006")
}

// titles are the headings of the pages, where their data does not have one. The home page has the
// project's name alone.
var titles = map[string]string{
	"account.html":     "Your account",
	"batches.html":     "Batches",
	"computers.html":   "Computers",
	"confirm.html":     "Confirm your e-mail address",
	"email.html":       "New e-mail address",
	"forgot.html":      "Forgotten password",
	"join.html":        "Join",
	"leaders.html":     "Leaderboards",
	"login.html":       "Log in",
	"news.html":        "News",
	"preferences.html": "Preferences",
	"reset.html":       "New password",
	"settings.html":    "Settings",
	"signup.html":      "Sign up",
	"status.html":      "Project status",
	"teams.html":       "Teams",
}

// A link is one of a row of pages.
type link struct{ Path, Text string }

// links are the pages in every page's head, after the project's own.
var links = []link{
	{"join", "Join"}, {"news", "News"}, {"leaders", "Leaderboards"}, {"teams", "Teams"}, {"status", "Status"}, {"account", "Your account"},
}

// tabs are the pages of an account.
var tabs = []link{{"account", "Overview"}, {"computers", "Computers"}, {"preferences", "Preferences"}, {"settings", "Settings"}}

// show sends a page, complete or not at all. In addition to its own data, a page may have a Title,
// an Error and something Said, which are shown above the rest, and Here, the page of a row that it
// is.
func (p *Pages) show(w http.ResponseWriter, code int, name string, data map[string]any) {
	if data["Title"] == nil {
		data["Title"] = titles[name]
	}
	if data["Here"] == nil {
		data["Here"] = strings.TrimSuffix(name, ".html")
	}
	if data["Tabs"] == nil {
		data["Tabs"] = tabs
	}
	data["Project"], data["Base"], data["Links"], data["Menu"], data["Themed"], data["Badges"] = p.Name, p.base, links, p.Articles.Menu(), p.Articles.Themed(), p.Badges
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		p.fail(w, err)
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
func (p *Pages) fail(w http.ResponseWriter, err error) {
	if errors.Is(err, account.ErrSession) {
		w.Header().Set("Location", p.Gate.MasterURL+"login")
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	p.Log.Error("page failed", "err", err)
	http.Error(w, Unavailable, http.StatusServiceUnavailable)
}

// missing answers that the requested name or number does not exist.
func (p *Pages) missing(w http.ResponseWriter, what string) {
	p.show(w, http.StatusNotFound, "read.html", map[string]any{"Title": "Not found", "Error": what, "Article": articles.Article{}})
}

// refusal is an error that people read.
func refusal(format string, args ...any) *protocol.AccountError {
	return &protocol.AccountError{Num: protocol.ErrNumNotUnique, Msg: fmt.Sprintf(format, args...)}
}

// explained puts an error that people are to read into a page's data, and returns others.
func explained(data map[string]any, err error) error {
	if refused, ok := errors.AsType[*protocol.AccountError](err); ok {
		data["Error"] = explain(refused)
		return nil
	}
	return err
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
			_, _ = io.WriteString(w, string(b.SVG()))
			return
		}
	}
	http.NotFound(w, r)
}

// Unavailable is the message shown if the database, or something else that a page needs, does not
// answer. The log has the cause.
const Unavailable = "The project cannot answer now. Try again later."
