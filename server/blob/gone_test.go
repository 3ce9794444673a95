package blob_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/starling-grid/starling/internal/tests3"
	"github.com/starling-grid/starling/server/blob"
)

// A service whose disks are not mounted loses all buckets. Then no file is taken for one that does not exist: all results
// whose files the bucket holds would fail.
func TestABucketThatIsGone(t *testing.T) {
	s3 := tests3.Start(t)
	u, err := url.Parse(s3.Bucket(t))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	var gone atomic.Bool
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: q.Get("endpoint")})
		r.Out.Host = r.In.Host
	}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !gone.Load() {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>`))
	}))
	defer srv.Close()
	by := u.Query()
	by.Set("endpoint", strings.TrimPrefix(srv.URL, "http://"))
	u.RawQuery = by.Encode()
	b, err := blob.OpenBucket(t.Context(), u.String(), "tree", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Put(t.Context(), "out_1", strings.NewReader("result")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Size(t.Context(), "out_2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	gone.Store(true)
	ask := map[string]func() error{
		"size": func() error { _, err := b.Size(t.Context(), "out_1"); return err },
		"sum":  func() error { _, err := b.Sum(t.Context(), "out_1"); return err },
		"open": func() error { _, err := b.Open(t.Context(), "out_1"); return err },
		"copy": func() error { _, err := b.Locate(t.Context(), "out_1"); return err },
	}
	for what, ask := range ask {
		if err := ask(); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", what, err)
		}
	}
	gone.Store(false)
	for what, ask := range ask {
		if err := ask(); err != nil {
			t.Errorf("%s once the bucket is there again: %v", what, err)
		}
	}
}
