package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/api/client"
	"github.com/starling-grid/starling/server/api/wire"
)

// A project that is temporarily unable to answer is asked again. One that refuses is not.
func TestPatience(t *testing.T) {
	asked, answer := 0, func(w http.ResponseWriter) {}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Header.Get("Authorization") != "Bearer secret" || r.URL.Path != "/p/api/v1/batches" {
			t.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
		}
		answer(w)
	}))
	defer srv.Close()
	c := &client.Client{URL: srv.URL + "/p", Token: "secret", Patience: time.Minute}
	answer = func(w http.ResponseWriter) {
		if asked == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(`{"batches": [{"id": 7}]}`))
	}
	if list, err := c.Batches(t.Context()); err != nil || asked != 2 || len(list) != 1 || list[0].ID != 7 {
		t.Errorf("asked %d times: %v, %v", asked, list, err)
	}
	asked, answer = 0, func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"error": "the quota is reached", "cure": "wait"}`))
	}
	_, err := c.Submit(t.Context(), wire.Submission{Name: "a"})
	if f, ok := errors.AsType[*wire.Fault](err); !ok || asked != 1 || f.Cure != "wait" {
		t.Errorf("asked %d times: %v", asked, err)
	}
	asked, c.Patience, answer = 0, 0, func(w http.ResponseWriter) { http.Error(w, "<html>", http.StatusBadGateway) }
	if _, err := c.Batches(t.Context()); err == nil || asked != 1 || !strings.Contains(err.Error(), "502") {
		t.Errorf("asked %d times: %v", asked, err)
	}
}
