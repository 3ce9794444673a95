// Package web is a project's public HTTP server: downloads, the account calls of BOINC's clients,
// metrics, and the table of routes, which includes the scheduler, the upload handler and the pages
// for people (package pages).
//
// It does not decide about work.
package web

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/starling-grid/starling/internal/negotiate"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/badge"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/mail"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/ranking"
	"github.com/starling-grid/starling/server/scheduler"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/upload"
	"github.com/starling-grid/starling/server/web/account"
	"github.com/starling-grid/starling/server/web/articles"
	"github.com/starling-grid/starling/server/web/counts"
	"github.com/starling-grid/starling/server/web/pages"
)

// A Site is the project's part of the web.
type Site struct {
	Serves     func(role string) bool // whether this process is to answer as web, scheduler, upload
	Name       string
	Schedulers []string // where clients reach the scheduler
	Roles      []string // that this process has
	Accounts   account.Rules
	Mail       *mail.Post // nil: the project sends no mail
	Articles   articles.Folder
	Stats      string // folder of the files for statistics sites (created if needed)
	Badges     badge.Ladder
	Once       match.Once

	Store     *store.Store
	Log       *slog.Logger
	Download  Files
	Scheduler http.Handler
	Events    http.Handler           // where idle hosts wait for work
	API       map[string]limit.Route // for programs, by path
	Upload    http.Handler

	Limits Limits

	metrics  http.Handler
	gate     *account.Gate
	counts   *counts.Cache
	unnamed  sync.Once // warning
	requests limit.Requests
	export   export
	routes   map[string]limit.Bound
}

// Limits restrict the use of the server by strangers. 0 disables a limit.
type Limits struct {
	Forwarding         limit.Forwarding // proxies that are trusted about a request's sender
	Pace               limit.Pace
	RequestsPerAddress int // at a time
}

// Handler returns the handler of everything below the project's URL. It is called once.
func (s *Site) Handler() (http.Handler, error) {
	u, err := url.Parse(s.Accounts.MasterURL)
	if err != nil {
		return nil, err
	}
	s.requests.PerAddress = s.Limits.RequestsPerAddress
	s.gate = account.NewGate(s.Store, s.Log, s.Accounts)
	s.counts = counts.Kept(s.Store, s.Once)
	api := http.NewServeMux()
	p := pages.New(pages.Config{API: api, Name: s.Name, Schedulers: s.Schedulers, Roles: s.Roles, Gate: s.gate, Counts: s.counts, Mail: s.Mail, Store: s.Store, Log: s.Log, Standings: ranking.Kept(s.Store), Articles: s.Articles, Badges: s.Badges})
	base := u.Path
	mux := http.NewServeMux()
	m := newMetrics(s)
	s.metrics = m.page()
	foreign := http.NewCrossOriginProtection() // other sites' pages cannot act for a visitor
	foreign.SetDenyHandler(negotiate.Language(http.HandlerFunc(pages.Foreign)))
	s.routes = make(map[string]limit.Bound)
	handle := func(role, pattern string, t limit.Route) {
		s.routes[pattern] = t.Bound
		h := t.Bounded()
		if !s.Serves(role) {
			h = http.HandlerFunc(elsewhere)
		}
		method, path, found := strings.Cut(pattern, " ")
		if !found {
			method, path = "", pattern
		}
		mux.Handle(method+" "+base+path, m.timed(role, h))
	}
	page := func(pattern string, h http.HandlerFunc) {
		handle("web", pattern, limit.Route{Handle: foreign.Handler(h).ServeHTTP, Bound: limit.Small})
	}
	handle("scheduler", "POST cgi", limit.Route{Handle: s.Scheduler.ServeHTTP, Bound: scheduler.Bound})
	handle("scheduler", "GET work_events", limit.Route{Handle: s.Events.ServeHTTP, Bound: limit.Small})
	handle("upload", "POST file_upload_handler", limit.Route{Handle: s.Upload.ServeHTTP, Bound: upload.Bound})
	page("GET download/{hash}/{name}", s.download)
	page("GET get_project_config.php", s.projectConfig)
	page("GET lookup_account.php", s.lookupAccount)
	page("GET create_account.php", negotiate.Language(http.HandlerFunc(s.createAccount)).ServeHTTP) // for the e-mail
	page("GET am_get_info.php", s.accountInfo)
	page("GET am_set_host_info.php", s.setHostInfo)
	page("GET show_user.php", s.showUser)
	page("GET stats/{name}", s.statistics)
	for pattern, h := range p.Routes() {
		if !strings.Contains(pattern, " ") {
			h = form(h)
		}
		page(pattern, h)
	}
	for pattern, t := range s.API {
		handle("web", pattern, t)
		if method, path, found := strings.Cut(pattern, " "); found {
			api.Handle(method+" "+base+path, t.Bounded())
		}
	}
	if base != "/" {
		mux.Handle("GET /{$}", root(base))
	}
	return s.guard(mux), nil
}

// root redirects browsers to the project. Clients are not redirected, because they would take the root for the
// project's URL.
func root(project string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept")
		if !strings.Contains(r.Header.Get("Accept"), "text/html") {
			http.NotFound(w, r)
			return
		}
		http.Redirect(w, r, project, http.StatusFound)
	}
}

// form restricts a page with a form to the methods that browsers use.
func form(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead, http.MethodPost:
			h(w, r)
		default:
			w.Header().Set("Allow", "GET, HEAD, POST")
			http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
		}
	}
}

// Routes returns the limits on the bodies of requests, by the patterns of all paths below the
// project's URL. Handler must be called before.
func (s *Site) Routes() map[string]limit.Bound { return maps.Clone(s.routes) }

// Metrics returns the handler for scrapes. Handler must be called before.
func (s *Site) Metrics() http.Handler { return s.metrics }

// guard limits the requests of one address, and sets the headers that restrict the use of every
// answer in browsers.
func (s *Site) guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := s.Limits.Forwarding.Client(r)
		if s.Limits.Pace.Window > 0 {
			w, r = s.Limits.Pace.Apply(w, r)
		}
		head := w.Header()
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "same-origin") // without it a form's origin would be unknown, too
		head.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
		if header := s.Limits.Forwarding.Untrusted(r); header != "" {
			s.unnamed.Do(func() {
				s.Log.Warn("a header that names the sender is ignored: if it comes from your proxy, see trusted_proxies and forwarded_header in server.toml, or limits treat all volunteers as one address", "header", header, "ip", a)
			})
		}
		end, ok := s.requests.Begin(a)
		if !ok {
			limit.Busy(w, "too many simultaneous requests from your address")
			return
		}
		defer end()
		h.ServeHTTP(w, limit.WithClient(r, a))
	})
}

// elsewhere answers requests that another process of the project handles. If one arrives here, the
// proxy in front is misconfigured. This is expected to be repaired, so clients retry.
func elsewhere(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "another process of this project answers these requests", http.StatusServiceUnavailable)
}

// projectConfig describes the project for attach wizards.
func (s *Site) projectConfig(w http.ResponseWriter, r *http.Request) {
	c := protocol.ProjectConfig{
		Name: s.Name, MasterURL: s.Accounts.MasterURL, WebRPCURLBase: s.Accounts.MasterURL,
		ServerVersion: protocol.SchedulerVersion, MinPasswordLength: s.Accounts.MinPasswdLength,
		AccountCreationDisabled: s.Accounts.DisableAccountCreation,
	}
	if a, err := s.Articles.Page(articles.Terms); err == nil {
		c.TermsOfUse = a.Plain
	}
	err := s.Store.View(r.Context(), func(tx *store.View) error {
		platforms, err := tx.Platforms()
		for _, p := range platforms {
			c.Platforms = append(c.Platforms, protocol.ConfigPlatform{Name: p.Name, UserFriendlyName: p.UserFriendlyName})
		}
		return err
	})
	if err != nil {
		s.Log.Error("project config failed", "err", err)
		http.Error(w, pages.Unavailable.String(), http.StatusServiceUnavailable)
		return
	}
	writeXML(w, c.Encode())
}

// writeXML sends an answer of the account calls, always with status 200.
func writeXML(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "text/xml")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(`<?xml version="1.0" encoding="UTF-8" ?>` + "\n"))
	_, _ = w.Write(body)
}

// Files is a tree of files.
type Files interface {
	Open(ctx context.Context, name string) (*blob.File, error)
}

// download serves a file. Files never change, so they may be cached forever. They are sent
// unchanged, as resumed downloads require.
func (s *Site) download(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if path.Dir(blob.Path(name)) != r.PathValue("hash") {
		http.NotFound(w, r)
		return
	}
	f, err := s.Download.Open(r.Context(), name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, protocol.ErrFileName):
		http.NotFound(w, r)
		return
	case err != nil:
		// Clients take a 4xx as final, so a file that cannot be read just now is
		// a 5xx.
		s.Log.Error("download", "file", name, "err", err)
		http.Error(w, "the file cannot be read now", http.StatusServiceUnavailable)
		return
	}
	defer f.Close()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Etag", `"`+name+`"`)
	http.ServeContent(w, r, "", f.Modified, f)
}
