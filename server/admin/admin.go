// Package admin serves the parts that are not public, on a separate address: whether this process
// is alive and ready, its metrics, and profiles of it.
//
// The package does not depend on a project. Its caller supplies the data.
package admin

import (
	"context"
	"crypto/subtle"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/limit"
)

// patience is the maximum time for a look at the project before it counts as not ready.
// Orchestrators ask every few seconds, and have less patience.
const patience = 5 * time.Second

// A Desk answers on the operator's address. Its fields are set before Handler is called.
type Desk struct {
	// Ready returns the reason why this process cannot serve just now, or nil. It obeys ctx.
	Ready func(ctx context.Context) error
	// Metrics answers scrapes.
	Metrics http.Handler
	// Client returns the address from which a request comes.
	Client func(r *http.Request) netip.Addr
	// Allowed reports whether an address may see metrics and profiles.
	Allowed func(a netip.Addr) bool
	// Console serves the pages for people, and checks access itself. If nil, there are no pages.
	Console http.Handler
	// Hosts are the accepted host names for this address, in addition to IP addresses, names
	// without a dot and names that end in .local, .internal or .localhost.
	Hosts []string
	Log   *slog.Logger
	Settings
}

// Handler returns the table of routes. The health routes answer only yes or no, so they are open to
// everyone who can reach the address. The others require access by Allowed or MetricsToken.
func (d *Desk) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", d.ready)
	for pattern, h := range map[string]http.Handler{
		"GET /metrics": d.Metrics,
		// Their names are those that go tool pprof asks for.
		"GET /debug/pprof/":        http.HandlerFunc(pprof.Index),
		"GET /debug/pprof/cmdline": http.HandlerFunc(pprof.Cmdline),
		"GET /debug/pprof/profile": http.HandlerFunc(pprof.Profile),
		"GET /debug/pprof/symbol":  http.HandlerFunc(pprof.Symbol),
		"GET /debug/pprof/trace":   http.HandlerFunc(pprof.Trace),
	} {
		mux.Handle(pattern, d.guarded(h))
	}
	if d.Console != nil {
		mux.Handle("/", d.addressed(d.Console))
	}
	return http.MaxBytesHandler(mux, limit.Small.Most)
}

func (d *Desk) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	if err := d.Ready(ctx); err != nil {
		d.Log.Warn("not ready", "err", err)
		say(w, http.StatusServiceUnavailable, "not ready: see the log")
		return
	}
	say(w, http.StatusOK, "ok")
}

func say(w http.ResponseWriter, code int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(text + "\n"))
}

// guarded calls h for requests that have access.
func (d *Desk) guarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		known := d.MetricsToken != "" && subtle.ConstantTimeCompare([]byte(token), []byte(d.MetricsToken)) == 1
		if !known && !d.named(r) {
			misdirected(w)
			return
		}
		if !known && !d.Allowed(d.Client(r)) {
			http.Error(w, "only the project's operator may read this: see metrics_allow and metrics_token in server.toml", http.StatusForbidden)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		h.ServeHTTP(w, r)
	})
}

// addressed is h for requests under a name that is this computer's own. A page on the web can give
// its own name this address (DNS rebinding), and then has the operator's browser ask as it likes.
func (d *Desk) addressed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !d.named(r) {
			misdirected(w)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func (d *Desk) named(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(host, ".") {
		return true
	}
	for _, end := range []string{".local", ".internal", ".localhost"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return slices.Contains(d.Hosts, host)
}

func misdirected(w http.ResponseWriter) {
	http.Error(w, "this name is not the project's: use the address of the computer, or the host of master_url; or send metrics_token", http.StatusMisdirectedRequest)
}
