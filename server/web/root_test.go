package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTheRootLeadsToTheProject is about people who enter the address of the project's computer in a browser.
func TestTheRootLeadsToTheProject(t *testing.T) {
	s := newSite(t)
	for path, want := range map[string]int{"/": http.StatusFound, "/nothing": http.StatusNotFound} {
		w := httptest.NewRecorder()
		s.public.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: HTTP %d, want %d", path, w.Code, want)
		}
		if to := w.Header().Get("Location"); want == http.StatusFound && (to == "/" || !strings.HasSuffix(master, to)) {
			t.Errorf("%s leads to %q, want the path of %s", path, to, master)
		}
	}
}
