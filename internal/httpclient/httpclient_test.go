package httpclient_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/starling-grid/starling/internal/httpclient"
)

func TestRedirects(t *testing.T) {
	mux := http.NewServeMux()
	for _, code := range []int{301, 302, 303, 307, 308} {
		mux.Handle(fmt.Sprintf("/%d", code), http.RedirectHandler("/end", code))
	}
	mux.Handle("/twice", http.RedirectHandler("/301", http.StatusMovedPermanently))
	mux.Handle("/for/ever", http.RedirectHandler("/for/ever", http.StatusMovedPermanently))
	mux.HandleFunc("/end", func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %d %s %v", r.Method, r.Header.Get("Content-Type"), r.ContentLength, b, err)
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	c := httpclient.New(nil)
	for _, tt := range []struct{ method, path, want string }{
		{"POST", "/end", "POST text/xml 4 body <nil>"},
		{"POST", "/301", "POST text/xml 4 body <nil>"},
		{"POST", "/twice", "POST text/xml 4 body <nil>"},
		{"POST", "/302", "GET  0  <nil>"},
		{"POST", "/303", "GET  0  <nil>"},
		{"POST", "/307", "POST text/xml 4 body <nil>"},
		{"POST", "/308", "POST text/xml 4 body <nil>"},
		{"GET", "/301", "GET  0  <nil>"},
		{"POST", "/for/ever", ""},
		{"GET", "/for/ever", ""},
	} {
		var body any
		if tt.method == "POST" {
			body = strings.NewReader("body")
		}
		req, err := retryablehttp.NewRequestWithContext(t.Context(), tt.method, srv.URL+tt.path, body)
		if err != nil {
			t.Fatal(err)
		}
		if tt.method == "POST" {
			req.Header.Set("Content-Type", "text/xml")
		}
		resp, err := c.Do(req)
		if tt.want == "" {
			if err == nil || !strings.Contains(err.Error(), "stopped after 10 redirects") {
				t.Errorf("%s %s: got %v, want an end", tt.method, tt.path, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s: %v", tt.method, tt.path, err)
			continue
		}
		got, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(got) != tt.want {
			t.Errorf("%s %s: the last server saw %q, want %q", tt.method, tt.path, got, tt.want)
		}
	}
}
