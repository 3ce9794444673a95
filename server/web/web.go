// Package web is what a project shows to the world over HTTP: the master page,
// the account calls of BOINC's clients, downloads, the status page, and the
// table of routes under which the scheduler and the upload handler live too.
//
// It decides nothing about work. It remembers counts for a while, and how often
// passwords were guessed.
package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/starling-grid/starling/internal/look"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/mail"
	"github.com/starling-grid/starling/server/store"
)

// maxForm bounds what a page sends.
const maxForm = 64 << 10

// A Site is the project's part of the web.
type Site struct {
	Serves            func(role string) bool // whether this process is to answer as web, scheduler, upload
	Name              string
	MasterURL         string
	Schedulers        []string // where clients reach the scheduler
	CreationDisabled  bool     // no new accounts
	MinPasswordLength int
	Secret            []byte     // seals sessions; the same in all processes of a project
	Mail              *mail.Post // nil: the project sends no mail

	Store     *store.Store
	Log       *slog.Logger
	Download  Files
	Scheduler http.Handler
	Upload    http.Handler

	Limits Limits

	cache    cache
	unnamed  sync.Once // warning
	requests limit.Requests
	guesses  limit.Rate[guess]      // of the password of one account, from one address
	tries    limit.Rate[netip.Addr] // of account calls and passwords of all accounts
	accounts limit.Rate[netip.Addr] // made
	links    limit.Rate[int64]      // mailed to an account whose password was forgotten
	hashing  hashing
	mailing  chan struct{} // a place for each mail that is being sent
}

// Limits say how much strangers may take. 0 switches a limit off.
type Limits struct {
	Proxies            limit.Proxies // whose X-Forwarded-For counts
	Pace               limit.Pace
	RequestsPerAddress int           // at a time
	AccountsPerDay     int           // made from an address
	WrongPasswords     int           // for an account, from an address, before they are rationed
	Metrics            limit.Proxies // who may read them
	MetricsToken       string        // with which everybody may; "": none
}

// A guess is at an account's password.
type guess struct {
	email [sha256.Size]byte // of what was given, whether there is such an account or not
	from  netip.Addr
}

// Account calls and passwords that an address may try for all accounts together: so
// many at once, and one more after each period.
const (
	tryBurst = 120
	tryEvery = time.Second
)

// Handler returns the handler of everything below the project's URL. It is called once.
func (s *Site) Handler() (http.Handler, error) {
	u, err := url.Parse(s.MasterURL)
	if err != nil {
		return nil, err
	}
	l := s.Limits
	s.requests.PerAddress = l.RequestsPerAddress
	s.guesses.Burst, s.guesses.Every = l.WrongPasswords, time.Minute
	s.links.Burst, s.links.Every = 3, time.Hour
	if l.WrongPasswords > 0 {
		s.tries.Burst, s.tries.Every = tryBurst, tryEvery
	}
	if l.AccountsPerDay > 0 {
		s.accounts.Burst, s.accounts.Every = l.AccountsPerDay, 24*time.Hour/time.Duration(l.AccountsPerDay)
	}
	s.hashing.free = max(1, runtime.GOMAXPROCS(0)/2)
	s.mailing = make(chan struct{}, maxMailing)
	base := u.Path
	mux := http.NewServeMux()
	m := newMetrics(s)
	foreign := http.NewCrossOriginProtection() // other sites' pages cannot act for a visitor
	for _, r := range []struct {
		role, pattern string
		h             http.Handler
	}{
		{"web", "GET %s{$}", http.HandlerFunc(s.home)},
		{"web", "GET %sbase.css", http.HandlerFunc(look.Base)},
		{"web", "GET %sstyle.css", http.HandlerFunc(style)},
		{"web", "GET %sget_project_config.php", http.HandlerFunc(s.projectConfig)},
		{"web", "GET %slookup_account.php", http.HandlerFunc(s.lookupAccount)},
		{"web", "GET %screate_account.php", http.HandlerFunc(s.createAccount)},
		{"scheduler", "POST %scgi", s.Scheduler},
		{"upload", "POST %sfile_upload_handler", s.Upload},
		{"web", "GET %sdownload/{hash}/{name}", http.HandlerFunc(s.download)},
		{"web", "%ssignup", http.HandlerFunc(s.signup)},
		{"web", "%slogin", http.HandlerFunc(s.login)},
		{"web", "POST %slogout", http.HandlerFunc(s.logout)},
		{"web", "%saccount", http.HandlerFunc(s.account)},
		{"web", "%sforgot", http.HandlerFunc(s.forgot)},
		{"web", "%sreset", http.HandlerFunc(s.reset)},
		{"web", "GET %sstatus", http.HandlerFunc(s.status)},
		{"web", "GET %sserver_status.php", http.HandlerFunc(s.status)}, // where BOINC's tools look for it
		{"web", "GET %smetrics", s.scraped(m.page())},
	} {
		if !s.Serves(r.role) {
			r.h = http.HandlerFunc(elsewhere)
		}
		if r.role == "web" {
			r.h = http.MaxBytesHandler(foreign.Handler(r.h), maxForm)
		}
		mux.Handle(strings.Replace(r.pattern, "%s", base, 1), m.timed(r.role, r.h))
	}
	return s.guard(mux), nil
}

// guard bounds what one address may take, and tells browsers what no answer of the
// project is for.
func (s *Site) guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := s.Limits.Proxies.Client(r)
		if s.Limits.Pace.Window > 0 {
			w, r = s.Limits.Pace.Apply(w, r)
		}
		head := w.Header()
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "same-origin") // without it a form's origin would be unknown, too
		head.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
		if a == limit.ClientOf(r) && r.Header.Get("X-Forwarded-For") != "" {
			s.unnamed.Do(func() {
				s.Log.Warn("X-Forwarded-For is ignored: if the sender is your proxy, add it to trusted_proxies, or limits treat all volunteers as one address", "ip", a)
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

// scraped shows metrics to those who may see them.
func (s *Site) scraped(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		known := s.Limits.MetricsToken != "" && subtle.ConstantTimeCompare([]byte(token), []byte(s.Limits.MetricsToken)) == 1
		if !known && !s.Limits.Metrics.Contain(limit.ClientOf(r)) {
			http.Error(w, "only the project's operator may read the metrics: see metrics_allow and metrics_token in server.toml", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// elsewhere answers what another process of the project does. That it came here
// is a mistake of the proxy in front, which will be mended: clients try again.
func elsewhere(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "another process of this project answers these requests", http.StatusServiceUnavailable)
}

// home is the page that people and clients fetch first. Clients read it line by
// line, 255 bytes at a time, and match the tags to the letter.
func (s *Site) home(w http.ResponseWriter, r *http.Request) {
	st, err := s.counts(r.Context(), homePageMaxAge)
	if err != nil {
		s.Log.Error("can't count work for the home page", "err", err) // clients need the page all the same
	}
	var tag strings.Builder
	for _, u := range s.Schedulers {
		tag.WriteString("<scheduler>" + template.HTMLEscapeString(u) + "</scheduler>\n")
	}
	s.show(w, http.StatusOK, "home.html", map[string]any{
		"URL": s.MasterURL, "Schedulers": s.Schedulers, "Status": st,
		// In a comment, which html/template would drop from its text.
		"Tag": template.HTML("<!--\n" + tag.String() + "-->"), //nolint:gosec // escaped, and the operator's own
	})
}

// projectConfig tells attach wizards about the project.
func (s *Site) projectConfig(w http.ResponseWriter, r *http.Request) {
	c := protocol.ProjectConfig{
		Name: s.Name, MasterURL: s.MasterURL, WebRPCURLBase: s.MasterURL,
		ServerVersion: protocol.SchedulerVersion, MinPasswordLength: s.MinPasswordLength,
		AccountCreationDisabled: s.CreationDisabled,
	}
	err := s.Store.View(r.Context(), func(tx *store.Tx) error {
		platforms, err := tx.Platforms()
		for _, p := range platforms {
			c.Platforms = append(c.Platforms, protocol.ConfigPlatform{Name: p.Name, UserFriendlyName: p.UserFriendlyName})
		}
		return err
	})
	if err != nil {
		s.Log.Error("project config failed", "err", err)
		http.Error(w, unavailable, http.StatusServiceUnavailable)
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

// download hands out a file. Files never change, so they may be cached for
// ever; they are sent as they are, as resumed downloads need.
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
