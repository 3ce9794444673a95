// Package web is what a project shows to the world over HTTP: the master page,
// the account calls of BOINC's clients, downloads, the status page, and the
// table of routes under which the scheduler and the upload handler live too.
//
// It decides nothing about work. It remembers counts for a while, and how often
// passwords were guessed.
package web

import (
	"errors"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"runtime"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
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
	CreationDisabled  bool // no new accounts
	MinPasswordLength int
	Secret            []byte     // seals sessions; the same in all processes of a project
	Mail              *mail.Post // nil: the project sends no mail

	Store     *store.Store
	Log       *slog.Logger
	Download  blob.Tree
	Scheduler http.Handler
	Upload    http.Handler

	cache   cache
	guesses ration        // of passwords
	links   ration        // mailed to who forgot his password
	hashing chan struct{} // a place for each password that may be hashed at a time
}

// Handler returns the handler of everything below the project's URL. It is called once.
func (s *Site) Handler() (http.Handler, error) {
	u, err := url.Parse(s.MasterURL)
	if err != nil {
		return nil, err
	}
	s.guesses, s.links = ration{burst: 10, every: time.Minute}, ration{burst: 3, every: time.Hour}
	s.hashing = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))
	base := u.Path
	mux := http.NewServeMux()
	m := newMetrics(s)
	foreign := http.NewCrossOriginProtection() // other sites' pages cannot act for a visitor
	for _, r := range []struct {
		role, pattern string
		h             http.Handler
	}{
		{"web", "GET %s{$}", http.HandlerFunc(s.home)},
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
		{"web", "GET %smetrics", m.page()},
	} {
		if !s.Serves(r.role) {
			r.h = http.HandlerFunc(elsewhere)
		}
		if r.role == "web" {
			r.h = http.MaxBytesHandler(foreign.Handler(r.h), maxForm)
		}
		mux.Handle(strings.Replace(r.pattern, "%s", base, 1), m.timed(r.role, r.h))
	}
	return mux, nil
}

// elsewhere answers what another process of the project does. That it came here
// is a mistake of the proxy in front, which will be mended: clients try again.
func elsewhere(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "another process of this project answers that", http.StatusServiceUnavailable)
}

// home is the page that people and clients fetch first. Clients read it line by
// line, 255 bytes at a time, and match the tags to the letter.
func (s *Site) home(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	st, err := s.counts(r.Context(), homely)
	if err != nil {
		s.Log.Error("can't count for the home page", "err", err) // clients need the page all the same
	}
	_ = homePage.Execute(w, map[string]any{
		"Name": s.Name, "URL": s.MasterURL, "Cgi": s.MasterURL + "cgi", "Status": st,
		// In a comment, which html/template would drop from its text.
		"Tag": template.HTML("<!--\n<scheduler>" + template.HTMLEscapeString(s.MasterURL+"cgi") + "</scheduler>\n-->"), //nolint:gosec // escaped, and the operator's own
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
		s.Log.Error("project config", "err", err)
		http.Error(w, "the project cannot answer now", http.StatusServiceUnavailable)
		return
	}
	writeXML(w, c.Encode())
}

// writeXML sends an answer of the account calls, always with status 200.
func writeXML(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "text/xml")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(`<?xml version="1.0" encoding="UTF-8" ?>` + "\n"))
	_, _ = w.Write(body) //nolint:gosec // not HTML
}

// download hands out a file. Files never change, so they may be cached for
// ever; they are sent as they are, as resumed downloads need.
func (s *Site) download(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if path.Dir(blob.Path(name)) != r.PathValue("hash") {
		http.NotFound(w, r)
		return
	}
	f, err := s.Download.Open(name)
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
	control := http.NewResponseController(w)
	http.ServeContent(&patientWriter{w, control}, r, "", f.Modified, f)
}

// patientWriter lets a download take as long as it moves.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

const idle = 2 * time.Minute

func (p *patientWriter) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(idle)) // not supported in tests
	return p.ResponseWriter.Write(b)
}
