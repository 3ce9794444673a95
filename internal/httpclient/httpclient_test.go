package httpclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
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
		if from := r.Referer(); from != "" {
			fmt.Fprintf(w, " from %s", from)
		}
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
		{"GET", "/307?passwd_hash=secret", "GET  0  <nil>"},
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

// A redirect to an unreadable address is an error like other redirects that are not followed, at
// once.
func TestAnUnreadableRedirect(t *testing.T) {
	requests := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		w.Header().Set("Location", "http://[::1/x%zz")
		w.WriteHeader(http.StatusFound)
	}))
	defer srv.Close()
	resp, err := httpclient.New(nil).Get(srv.URL)
	if err == nil {
		_ = resp.Body.Close()
	}
	if _, ok := errors.AsType[*httpclient.RedirectError](err); !ok || requests != 1 {
		t.Errorf("%v after %d requests", err, requests)
	}
}

// A body with a secret is not sent from https to http, while other bodies are.
func TestASecretStaysEncrypted(t *testing.T) {
	got := make(chan string, 4)
	open := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- string(b)
	}))
	defer open.Close()
	encrypted := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
		http.Redirect(w, r, open.URL, code)
	}))
	defer encrypted.Close()
	c := httpclient.New(encrypted.Client().Transport)
	post := func(ctx context.Context, code int) error {
		req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprint(encrypted.URL, "/", code), []byte("key"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	for _, code := range []int{301, 307, 308} {
		err := post(httpclient.WithSecret(t.Context()), code)
		if r, ok := errors.AsType[*httpclient.RedirectError](err); !ok || !strings.Contains(open.URL, r.To) || len(got) > 0 {
			t.Fatalf("HTTP %d: %v, and %d requests without encryption", code, err, len(got))
		}
		if err := post(t.Context(), code); err != nil || <-got != "key" {
			t.Errorf("HTTP %d, no secret: %v", code, err)
		}
	}
	if err := post(httpclient.WithSecret(t.Context()), 303); err != nil || <-got != "" { // a GET
		t.Errorf("HTTP 303: %v", err)
	}
}
