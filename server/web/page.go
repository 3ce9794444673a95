package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

//go:embed pages
var pageFiles embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"when": func(t time.Time) string {
		if t.Unix() <= 0 {
			return "never"
		}
		return t.UTC().Format("2006-01-02 15:04")
	},
	"device": device,
}).ParseFS(pageFiles, "pages/*.html"))

// device names the coprocessors of one kind: 2 × NVIDIA GeForce RTX 3060 (12 GB).
func device(c store.Coproc) string {
	name := c.Name
	if name == "" {
		name = match.DeviceName(c.Kind)
	}
	if c.Count > 1 {
		name = fmt.Sprintf("%d × %s", c.Count, name)
	}
	if gb := c.Memory / (1 << 30); gb >= 0.05 {
		name += fmt.Sprintf(" (%.3g GB)", gb)
	}
	return name
}

// titles are the headings of the pages. The home page has the project's name alone.
var titles = map[string]string{
	"account.html": "Your account",
	"forgot.html":  "Forgotten password",
	"login.html":   "Log in",
	"reset.html":   "New password",
	"signup.html":  "Sign up",
	"status.html":  "Project status",
}

// show sends a page, complete or not at all. Besides its own data, a page may have an
// Error and something Said, which stand above the rest.
func (s *Site) show(w http.ResponseWriter, code int, name string, data map[string]any) {
	data["Project"], data["Title"] = s.Name, titles[name]
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		s.Log.Error("page failed", "name", name, "err", err)
		http.Error(w, unavailable, http.StatusServiceUnavailable)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes())
}

// style is what the site adds to the look that it shares with the agent's dashboard.
func style(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "max-age=3600")
	http.ServeFileFS(w, r, pageFiles, "pages/style.css")
}

// unavailable is what people read when the database, or something else that a page
// needs, does not answer. The log has the cause.
const unavailable = "The project cannot answer now. Try again later."
