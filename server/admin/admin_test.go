package admin_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/admin"
)

// A page on the web whose name leads here reads nothing, in whichever browser.
func TestNamesOfOthersAreRefused(t *testing.T) {
	d := admin.Desk{
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "starling_users 3") }),
		Client:  func(r *http.Request) netip.Addr { return netip.MustParseAddrPort(r.RemoteAddr).Addr() },
		Allowed: func(a netip.Addr) bool { return a.IsLoopback() }, Console: http.NotFoundHandler(),
		Settings: admin.Settings{MetricsToken: "0123456789abcdef"}, Hosts: []string{"project.example"}, Log: slog.New(slog.DiscardHandler),
	}
	h := d.Handler()
	for _, tt := range []struct {
		host, path, token string
		code              int
	}{
		{"evil.example:8081", "/metrics", "", 421},
		{"evil.example.", "/debug/pprof/cmdline", "", 421},
		{"evil.example", "/debug/pprof/heap", "", 421},
		{"evil.example", "/works", "", 421},
		{"127.0.0.1.evil.example", "/metrics", "", 421},
		{"evil.example", "/metrics", "0123456789abcdef", 200}, // no browser has the token
		{"evil.example", "/healthz", "", 200},
		{"127.0.0.1:8081", "/metrics", "", 200},
		{"[::1]:8081", "/metrics", "", 200},
		{"localhost:8081", "/metrics", "", 200},
		{"starling", "/metrics", "", 200},
		{"server.local:8081", "/metrics", "", 200},
		{"Project.Example:8081", "/metrics", "", 200},
		{"project.example", "/works", "", 404},
	} {
		r := httptest.NewRequest(http.MethodGet, tt.path, nil)
		r.Host, r.RemoteAddr = tt.host, "127.0.0.1:9"
		if tt.token != "" {
			r.Header.Set("Authorization", "Bearer "+tt.token)
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if rec.Code != tt.code {
			t.Errorf("%s%s: HTTP %d, want %d", tt.host, tt.path, rec.Code, tt.code)
		}
	}
}

func TestDesk(t *testing.T) {
	var trouble error
	d := admin.Desk{
		Ready: func(context.Context) error { return trouble },
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "starling_users 3")
		}),
		Client:  func(r *http.Request) netip.Addr { return netip.MustParseAddrPort(r.RemoteAddr).Addr() },
		Allowed: func(a netip.Addr) bool { return a.IsLoopback() },
		Log:     slog.New(slog.DiscardHandler), Settings: admin.Settings{MetricsToken: "0123456789abcdef"},
	}
	h := d.Handler()
	const here, stranger = "127.0.0.1:9", "192.0.2.1:9"
	for _, tt := range []struct {
		name, from, method, path, token string
		trouble                         error
		code                            int
		says                            string
	}{
		{"health", here, "GET", "/healthz", "", nil, 200, "ok"},
		{"health is no secret", stranger, "GET", "/healthz", "", nil, 200, "ok"},
		{"alive without a database", here, "GET", "/healthz", "", errors.New("no database at 10.1.2.3"), 200, "ok"},
		{"ready", stranger, "GET", "/readyz", "", nil, 200, "ok"},
		{"not ready, and why is for the log", stranger, "GET", "/readyz", "", errors.New("no database at 10.1.2.3"), 503, "not ready: see the log"},
		{"metrics", here, "GET", "/metrics", "", nil, 200, "starling_users 3"},
		{"metrics for a stranger", stranger, "GET", "/metrics", "", nil, 403, "metrics_allow"},
		{"metrics for a guess", stranger, "GET", "/metrics", "0123456789abcdee", nil, 403, "metrics_allow"},
		{"metrics for one who knows", stranger, "GET", "/metrics", "0123456789abcdef", nil, 200, "starling_users 3"},
		{"profiles", here, "GET", "/debug/pprof/", "", nil, 200, "goroutine"},
		{"a profile", here, "GET", "/debug/pprof/goroutine?debug=1", "", nil, 200, "TestDesk"},
		{"profiles for a stranger", stranger, "GET", "/debug/pprof/heap", "", nil, 403, "metrics_allow"},
		{"the project is elsewhere", here, "GET", "/", "", nil, 404, ""},
		{"nothing is changed", here, "POST", "/metrics", "", nil, 405, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trouble = tt.trouble
			r := httptest.NewRequest(tt.method, tt.path, nil)
			r.RemoteAddr, r.Host = tt.from, "127.0.0.1:8081"
			if tt.token != "" {
				r.Header.Set("Authorization", "Bearer "+tt.token)
			}
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			if body := rec.Body.String(); rec.Code != tt.code || !strings.Contains(body, tt.says) || strings.Contains(body, "10.1.2.3") {
				t.Errorf("HTTP %d, %q; want %d, %q", rec.Code, body, tt.code, tt.says)
			}
		})
	}
}
