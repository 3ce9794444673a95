package web

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/counts"
)

// A request is counted under its part and its answer's code, and handlers can still set deadlines.
func TestRequestsAreTimed(t *testing.T) {
	st, err := store.OpenMemory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	m := newMetrics(&Site{Log: slog.New(slog.DiscardHandler), counts: counts.Kept(st, match.Once{})})
	var deadline error
	srv := httptest.NewServer(m.timed("upload", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		deadline = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute))
		w.WriteHeader(http.StatusTeapot)
	})))
	defer srv.Close()
	res, err := srv.Client().Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if deadline != nil {
		t.Errorf("a deadline cannot be set: %v", deadline)
	}
	page := httptest.NewRecorder()
	m.page().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`starling_request_duration_seconds_count{code="418",role="upload"} 1`, `starling_workunits{stage="total"} 0`,
		`starling_oldest_age_seconds{stage="unsent"} 0`, "go_goroutines ",
	} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("no %s in %s", want, page.Body)
		}
	}
}
