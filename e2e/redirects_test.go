package e2e_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
)

// A detour is a front end of a project that answers requests for certain files in other ways than
// the project: the outputs of workunits named up-…, and the inputs of others.
type detour struct {
	*httptest.Server                  // the address of the project
	direct           *httptest.Server // another one, without detours
	to               *url.URL
	mended           atomic.Bool

	mu     sync.Mutex
	ways   map[string]http.HandlerFunc // by workunit
	passed []string                    // requests that the project got
}

func newDetour(t *testing.T, to string) *detour {
	t.Helper()
	u, err := url.Parse(to)
	must(t, err)
	d := &detour{to: u, ways: make(map[string]http.HandlerFunc)}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _ := transferOf(r)
		wu, _, _ := strings.Cut(name, "_")
		d.mu.Lock()
		way := d.ways[wu]
		d.mu.Unlock()
		if way == nil || strings.HasPrefix(wu, "up-") != (r.Method == http.MethodPost) {
			way = d.pass
		}
		way(w, r)
	}))
	d.direct = httptest.NewServer(http.HandlerFunc(d.pass))
	t.Cleanup(d.Close)
	t.Cleanup(d.direct.Close)
	return d
}

// pass passes a request on to the project, and records it.
func (d *detour) pass(w http.ResponseWriter, r *http.Request) {
	name, from := transferOf(r)
	wu, _, _ := strings.Cut(name, "_")
	d.mu.Lock()
	d.passed = append(d.passed, strings.TrimSpace(wu+" "+from))
	d.mu.Unlock()
	d.forward(w, r)
}

func (d *detour) forward(w http.ResponseWriter, r *http.Request) {
	proxy := httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(d.to) },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     log.New(io.Discard, "", 0),
	}
	proxy.ServeHTTP(w, r)
}

// transferOf returns the name of a request's file, and the place in it where the transfer begins.
func transferOf(r *http.Request) (name, from string) {
	if r.Method != http.MethodPost || path.Base(r.URL.Path) != "file_upload_handler" {
		return path.Base(r.URL.Path), r.Header.Get("Range")
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(b))
	head, err := protocol.ReadUploadRequest(bufio.NewReader(bytes.NewReader(b)))
	switch {
	case err != nil:
		return "", err.Error()
	case head.SizeQuery:
		return head.Name, "size"
	}
	return head.Name, fmt.Sprint("offset ", head.Offset)
}

// leads redirects to another address, with the same path.
func leads(status int, to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to+r.URL.Path, status) }
}

// cutsOff ends transfers of a file after so many bytes of its content. Once d.mended is set they go
// another way.
func (d *detour) cutsOff(size int, then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, from := transferOf(r)
		switch {
		case d.mended.Load():
			then(w, r)
		case from == "size":
			d.pass(w, r)
		case r.Method == http.MethodPost:
			r.Body = io.NopCloser(io.MultiReader(io.LimitReader(r.Body, int64(size)), ends{}))
			d.forward(w, r) // it aborts
		default:
			rec := httptest.NewRecorder()
			d.pass(rec, r)
			w.Header().Set("Content-Length", strconv.Itoa(rec.Body.Len()))
			_, _ = w.Write(rec.Body.Bytes()[:size])
			panic(http.ErrAbortHandler)
		}
	}
}

type ends struct{}

func (ends) Read([]byte) (int, error) { return 0, errors.New("cut") }

// TestRedirectedTransfers redirects the inputs and outputs of an agent's tasks in many ways. Each
// file is transferred whole, or waits for a reason that the agent names, and nothing is lost.
func TestRedirectedTransfers(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	const size, cut = 200_000, 70_000
	port := freePort(t)
	d := newDetour(t, fmt.Sprintf("http://127.0.0.1:%d", port))
	page := func(size int) string {
		html := "<!DOCTYPE html><html>Welcome to the hotel" + strings.Repeat(" ", size)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, html) }))
		t.Cleanup(s.Close)
		return s.URL
	}
	short, long := page(0), page(2*size)
	down := httptest.NewServer(nil)
	down.Close()
	missing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(missing.Close)
	secure := httptest.NewUnstartedServer(http.HandlerFunc(d.pass))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	nowhere := func(location string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if location != "" {
				w.Header().Set("Location", location)
			}
			w.WriteHeader(http.StatusFound)
		}
	}
	cases := []struct {
		name     string
		way      http.HandlerFunc
		down, up reason.Code // expected trouble ("": the file passes)
	}{
		{"moved301", leads(301, d.direct.URL), "", ""},
		{"moved302", leads(302, d.direct.URL), "", reason.RedirectRefused}, // an upload would be a GET
		{"moved303", leads(303, d.direct.URL), "", reason.RedirectRefused},
		{"moved307", leads(307, d.direct.URL), "", ""},
		{"moved308", leads(308, d.direct.URL), "", ""},
		{"scheme", nowhere("ftp://127.0.0.1/in"), reason.RedirectRefused, reason.RedirectRefused},
		{"file", nowhere("file:///etc/passwd"), reason.RedirectRefused, reason.RedirectRefused},
		{"circle", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		}, reason.RedirectRefused, reason.RedirectRefused},
		{"noaddress", nowhere(""), reason.HTTPError, reason.HTTPError},
		{"badaddress", nowhere("http://[::1"), reason.RedirectRefused, reason.RedirectRefused},
		{"down", leads(307, down.URL), reason.ServerDown, reason.ServerDown},
		{"unknown", leads(307, "http://nosuch.invalid"), reason.NameUnknown, reason.NameUnknown},
		{"untrusted", leads(307, secure.URL), reason.CertUntrusted, reason.CertUntrusted},
		{"shortpage", leads(307, short), reason.NotAProject, reason.NotAProject},
		{"longpage", leads(307, long), reason.NotAProject, reason.NotAProject},
		{"cut", d.cutsOff(cut, leads(307, d.direct.URL)), reason.ConnectionLost, reason.ConnectionLost},
		{"cutpage", d.cutsOff(cut, leads(307, long)), reason.ConnectionLost, reason.ConnectionLost},
	}

	p := &testhost.Project{Bin: bin, Dir: filepath.Join(t.TempDir(), "project"), URL: d.URL + "/e2e/"}
	run(t, ctx, p, "init", p.Dir, "--name", "e2e", "--url", p.URL)
	settings := filepath.Join(p.Dir, "server.toml")
	b, err := os.ReadFile(settings)
	must(t, err)
	must(t, os.WriteFile(settings, []byte(strings.Replace(string(b), "\nlisten = \"\"", fmt.Sprintf("\nlisten = \"127.0.0.1:%d\"", port), 1)), 0o600))
	p.Key = strings.TrimSpace(run(t, ctx, p, "user", "add", p.Dir, "--email", testhost.Email, "--password", testhost.Password))
	program := written(t, "shout", "#!/bin/sh\ntr a-z A-Z <in >out\n")
	publish(t, ctx, p, "shout", "--main", program, "--plain")
	texts := make(map[string][]byte) // inputs, by workunit
	add := func(name string) {
		in := filepath.Join(t.TempDir(), name)
		texts[name] = bytes.Repeat([]byte(name+"\n"), size/len(name))[:size]
		must(t, os.WriteFile(in, texts[name], 0o600))
		job(t, ctx, p, "shout", name, "--input", in+"=in")
	}
	want := make(map[string]reason.Code)
	for _, c := range cases {
		for wu, code := range map[string]reason.Code{"down-" + c.name: c.down, "up-" + c.name: c.up} {
			add(wu)
			d.ways[wu] = c.way
			if code != "" {
				want[wu] = code
			}
		}
	}
	serve(t, ctx, p)
	a := configured(t, "a", "", "ncpus = 20\n") // with fewer, the outputs that wait would stop work fetch
	startAgent(t, ctx, a, p)

	// waits waits until exactly these workunits have trouble with a file, and the rest is done.
	waits := func(want map[string]reason.Code) {
		t.Helper()
		await(t, ctx, a, "the trouble with each file", func(s control.Status) bool {
			got := make(map[string]reason.Code)
			for _, x := range s.Transfers {
				if x.Active || x.Trouble == "" || x.TroubleCure == "" {
					return false
				}
				wu, _, _ := strings.Cut(x.Name, "_")
				got[wu] = x.TroubleCode
			}
			return maps.Equal(got, want)
		})
	}
	waits(want)
	// The next attempts resume.
	d.mended.Store(true)
	delete(want, "down-cut")
	delete(want, "up-cut")
	want["down-cutpage"], want["up-cutpage"] = reason.NotAProject, reason.NotAProject
	_, err = a.Run(ctx, "update", p.URL)
	must(t, err)
	waits(want)
	d.mu.Lock()
	clear(d.ways)
	d.mu.Unlock()
	_, err = a.Run(ctx, "update", p.URL)
	must(t, err)
	c, err := p.AwaitDone(ctx)
	must(t, err)
	if n := int64(len(texts)); c.Results.Total != n || c.Results.Outcome["success"] != n {
		t.Errorf("a result was lost: %+v", c)
	}
	for wu, text := range texts {
		b, err := p.Outcome(ctx, wu, "out")
		if err != nil || !bytes.Equal(b, bytes.ToUpper(text)) {
			t.Errorf("%s: %d bytes, %v", wu, len(b), err)
		}
	}
	for _, request := range []string{"down-cut bytes=70000-", "down-cutpage bytes=70000-", "up-cut offset ", "up-cutpage offset "} {
		n := slices.IndexFunc(d.passed, func(s string) bool { return strings.HasPrefix(s, request) && s != request+"0" })
		if n < 0 {
			t.Errorf("no request %q, but %q", request, d.passed)
		}
	}
}
