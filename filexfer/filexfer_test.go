package filexfer_test

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/internal/testerr"
)

// client makes a client like the agent's, except for its waits.
func client(transport http.RoundTripper) *filexfer.Client {
	c := httpclient.New(transport)
	c.RetryWaitMin, c.RetryWaitMax = time.Millisecond, time.Millisecond
	return &filexfer.Client{HTTP: c, UserAgent: "test"}
}

// A site is a data server that records its requests.
type site struct {
	URL string

	mu    sync.Mutex
	asked []string // method, path and, if there is one, range
}

func serve(t *testing.T, h http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line := r.Method + " " + r.URL.Path
		if v := r.Header.Get("Range"); v != "" {
			line += " " + v
		}
		s.mu.Lock()
		s.asked = append(s.asked, line)
		s.mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(srv.Close)
	s.URL = srv.URL
	return s
}

func (s *site) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// folder makes a project folder with the given files.
func folder(t *testing.T, files map[string][]byte) *os.Root {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "project")
	must(t, os.Mkdir(dir, 0o700))
	for name, b := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	root, err := os.OpenRoot(dir)
	must(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// names lists the contents of a folder.
func names(t *testing.T, dir *os.Root) []string {
	t.Helper()
	entries, err := fs.ReadDir(dir.FS(), ".")
	must(t, err)
	list := make([]string, 0, len(entries))
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func vector(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "protocol", "testdata", "vectors", name))
	must(t, err)
	return string(b)
}

// noise returns content without repetitions, always the same.
func noise(n int) []byte {
	rng := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	_, _ = rng.Read(b)
	return b
}

func md5Hex(b []byte) string {
	sum := md5.Sum(b)
	return hex.EncodeToString(sum[:])
}

// failure checks that err is an *Error with a number and that its being
// temporary follows from that.
func failure(t *testing.T, err error, num int) {
	t.Helper()
	e, ok := errors.AsType[*filexfer.Error](err)
	switch {
	case !ok:
		t.Errorf("got error %v, want a *filexfer.Error", err)
	case e.Num != num || e.Temporary() != (num == 0):
		t.Errorf("got %v: number %d, temporary %v; want number %d", err, e.Num, e.Temporary(), num)
	}
}

var must = testerr.Must
