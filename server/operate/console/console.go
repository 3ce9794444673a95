// Package console is the operators' view of their project in a browser. It has the flow of the
// work, lists, all details of one row, and buttons for the actions that the commands have too. The
// pages are served with the metrics, on the operator's address, and never on the public one.
package console

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/starling-grid/starling/internal/look"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/cache"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/counts"
)

//go:embed html
var files embed.FS

// templates returns the pages. They are parsed once, when the first is written.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"cell": view.Cell,
		"link": link,
		"label": func(name string) string {
			name = strings.NewReplacer("-", " ", "_", " ").Replace(name)
			return strings.ToUpper(name[:1]) + name[1:]
		},
		"share": view.Share, "number": func(n int) string { return view.VersionNumber(int64(n)) },
		"count": look.Count,
		"span":  func(seconds int64) string { return words.Span(time.Duration(seconds) * time.Second) },
	}).ParseFS(files, "html/*.html"))
})

// A Console is the operator's pages of a project. It may be asked concurrently.
type Console struct {
	project *project.Project
	log     *slog.Logger
	counts  *counts.Cache
	flow    *cache.Value[flow]

	mu   sync.Mutex
	said map[string]string // outcomes of actions, by a number that the next page has in its URL
}

// New returns the console of an open project.
func New(p *project.Project) *Console {
	return &Console{
		project: p, log: p.Log.With("part", "operator pages"), counts: counts.Kept(p.Store, p.Config.Once), flow: flows(p),
		said: make(map[string]string),
	}
}

// A tab is one of the pages in each page's head. All are lists, except the first.
type tab struct {
	Path, Text string
	listing    *view.Listing
}

var tabs = []tab{
	{"", "Overview", nil},
	{"batches", "Batches", view.Batches},
	{"works", "Workunits", view.Workunits},
	{"results", "Results", view.Results},
	{"apps", "Applications", view.Apps},
	{"versions", "Versions", view.Versions},
	{"hosts", "Computers", view.Hosts},
	{"users", "Accounts", view.Users},
	{"tokens", "Tokens", view.Tokens},
	{"audit", "Audit log", view.Audit},
}

// Handler returns the table of routes. Requests that change something are refused if another
// site's page makes the browser send them.
func (c *Console) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", c.signedIn(c.overview))
	for _, t := range tabs[1:] {
		mux.HandleFunc("GET /"+t.Path, c.signedIn(func(w http.ResponseWriter, r *http.Request, _ string) { c.list(w, r, t) }))
	}
	for _, kind := range []view.Kind{view.OfWork, view.OfResult, view.OfBatch, view.OfHost, view.OfUser} {
		mux.HandleFunc("GET /"+string(kind)+"/{id}", c.signedIn(func(w http.ResponseWriter, r *http.Request, _ string) { c.sheet(w, r, kind) }))
	}
	mux.HandleFunc("GET /", c.signedIn(func(w http.ResponseWriter, _ *http.Request, _ string) { c.missing(w, "There is no such page.") }))
	mux.HandleFunc("GET /enter", c.ask)
	mux.HandleFunc("POST /enter", c.enter)
	mux.HandleFunc("POST /leave", c.signedIn(c.leave))
	mux.HandleFunc("POST /do/{action}", c.signedIn(c.act))
	mux.HandleFunc("GET /base.css", look.Base)
	mux.HandleFunc("GET /icon.svg", look.Icon)
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, files, "html/style.css")
	})
	return http.MaxBytesHandler(http.NewCrossOriginProtection().Handler(mux), limit.Small.Most)
}

// missing answers that the requested row or page does not exist.
func (c *Console) missing(w http.ResponseWriter, what string) {
	c.show(w, http.StatusNotFound, "closed.html", map[string]any{"Title": "Not found", "Error": what, "In": true})
}

// show sends a page, complete or not at all.
func (c *Console) show(w http.ResponseWriter, code int, name string, data map[string]any) {
	data["Project"], data["Tabs"] = c.project.Config.LongName, tabs
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		c.fail(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes())
}

// fail answers with an error that is not of the request's making. Operators read it whole.
func (c *Console) fail(w http.ResponseWriter, err error) {
	c.log.Error("page failed", "err", err)
	http.Error(w, "The page failed: "+err.Error(), http.StatusServiceUnavailable)
}

// refuse answers with an error that the request caused.
func (c *Console) refuse(w http.ResponseWriter, err error) {
	code := http.StatusUnprocessableEntity
	if errors.Is(err, store.ErrNotFound) {
		code = http.StatusNotFound
	}
	c.show(w, code, "closed.html", map[string]any{"Title": "That did not work", "Error": sentence(err), "In": true})
}

// link returns the address of the page that shows a row, or "" if there is no such page.
func link(kind view.Kind, id any) string {
	var n int64
	switch id := id.(type) {
	case int64:
		n = id
	case int:
		n = int64(id)
	default:
		return ""
	}
	if kind == "" || n <= 0 {
		return ""
	}
	return "/" + string(kind) + "/" + strconv.FormatInt(n, 10)
}

// sentence is an error as a sentence.
func sentence(err error) string {
	text := strings.TrimSuffix(err.Error(), ".")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
