package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTheRootLeadsToTheProject is about people who enter the address of the project's computer in a browser. Clients
// would be attached to a second project that is the same.
func TestTheRootLeadsToTheProject(t *testing.T) {
	s := newSite(t)
	for _, tt := range []struct {
		path, accept string
		want         int
	}{
		{"/", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", http.StatusFound},
		{"/", "*/*", http.StatusNotFound},
		{"/", "", http.StatusNotFound},
		{"/nothing", "text/html", http.StatusNotFound},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, tt.path, nil)
		r.Header.Set("Accept", tt.accept)
		s.public.ServeHTTP(w, r)
		if w.Code != tt.want {
			t.Errorf("%s for %q: HTTP %d, want %d", tt.path, tt.accept, w.Code, tt.want)
		}
		if to := w.Header().Get("Location"); tt.want == http.StatusFound && (to == "/" || !strings.HasSuffix(master, to)) {
			t.Errorf("%s leads to %q, want the path of %s", tt.path, to, master)
		}
	}
}
