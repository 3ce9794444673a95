package rules

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// Projects are asked for answers in the language of the volunteer's tools, by the
// same requests.
func TestSpeaking(t *testing.T) {
	heard := ""
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { heard = r.Header.Get("Accept-Language") }))
	defer srv.Close()
	var language atomic.Pointer[string]
	c := http.Client{Transport: languageTransport{http.DefaultTransport, &language}}
	german, none := "de", ""
	for _, l := range []*string{nil, &german, &none} {
		language.Store(l)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if want := l; want == nil && heard != "" || want != nil && heard != *want {
			t.Errorf("asked for %q", heard)
		}
		if len(req.Header["Accept-Language"]) > 0 {
			t.Error("the caller's request was changed")
		}
	}
}
