package blob_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/blob"
)

// hanging opens a tree at a service that confirms that it has the bucket, and then never answers
// again.
func hanging(t *testing.T) *blob.Bucket {
	t.Setenv("AWS_ACCESS_KEY_ID", "starling")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "loopback-only")
	end := make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.Trim(r.URL.Path, "/") == "files" && r.Method == http.MethodHead {
			return
		}
		<-end
	}))
	t.Cleanup(service.Close)
	t.Cleanup(func() { close(end) })
	place := "s3://files?endpoint=" + strings.TrimPrefix(service.URL, "http://") + "&region=us-east-1&tls=false"
	b, err := blob.OpenBucket(t.Context(), place, "tree", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// Nothing that a hanging service is asked outlives its context.
func TestAHangingServiceIsLeft(t *testing.T) {
	b := hanging(t)
	f, err := b.OpenPart("x")
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	to := filepath.Join(t.TempDir(), "x")
	for _, test := range []struct {
		name string
		call func(ctx context.Context) error
	}{
		{"open", func(ctx context.Context) error { _, err := b.Open(ctx, "x"); return err }},
		{"size", func(ctx context.Context) error { _, err := b.Size(ctx, "x"); return err }},
		{"sum", func(ctx context.Context) error { _, err := b.Sum(ctx, "x"); return err }},
		{"put", func(ctx context.Context) error { _, err := b.Put(ctx, "x", strings.NewReader("x")); return err }},
		{"remove", func(ctx context.Context) error { return b.Remove(ctx, "x") }},
		{"walk", func(ctx context.Context) error {
			return b.Walk(ctx, func(string, time.Time) error { return nil })
		}},
		{"copy", func(ctx context.Context) error { return b.CopyTo(ctx, "x", to) }},
		{"locate", func(ctx context.Context) error { _, err := b.Locate(ctx, "x"); return err }},
		{"commit", func(ctx context.Context) error { return b.CommitPart(ctx, "x") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if err := test.call(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want that the time was over", err)
			}
		})
	}
}

// A request without a time limit is given up all the same: daemons use a context that ends with the
// server.
func TestPatienceEnds(t *testing.T) {
	b := hanging(t)
	blob.SetPatience(t, 50*time.Millisecond)
	if _, err := b.Size(t.Context(), "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("size: got %v, want that the time was over", err)
	}
	if err := b.Remove(t.Context(), "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("remove: got %v, want that the time was over", err)
	}
}

// An unreachable service is distinguished from errors that waiting does not solve.
func TestUnreachable(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "starling")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "loopback-only")
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for at, want := range map[string]bool{gone.URL: true, empty.URL: false} {
		err := blob.Reach(t.Context(), "s3://files?endpoint="+strings.TrimPrefix(at, "http://")+"&region=us-east-1&tls=false")
		if err == nil || blob.Unreachable(err) != want {
			t.Errorf("%v: unreachable is %t, want %t", err, !want, want)
		}
	}
	if err := blob.Reach(t.Context(), "s3://"); err == nil || blob.Unreachable(err) {
		t.Errorf("a bad place: %v", err)
	}
}
