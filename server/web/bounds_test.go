package web_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/api"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/console"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/web/account"
)

func TestMain(m *testing.M) {
	account.HashCost = bcrypt.MinCost // few tests are about passwords
	os.Exit(m.Run())
}

const master = "http://127.0.0.1:8080/demo/"

// A site is a project whose handlers are asked without a network.
type site struct {
	*project.Project
	public, private http.Handler
	routes          map[string]limit.Bound
}

func newSite(t *testing.T) *site {
	t.Helper()
	return newSiteOn(t, "")
}

// newSiteOn is newSite with a database of PostgreSQL's, unless that is "".
func newSiteOn(t *testing.T, database string) *site {
	t.Helper()
	return newSiteWith(t, database, func(*project.Config) {})
}

// newSiteWith is newSiteOn with other settings.
func newSiteWith(t *testing.T, database string, set func(*project.Config)) *site {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "p")
	if err := operate.Init(t.Context(), dir, operate.NewProject{Name: "Demo", MasterURL: master, Database: database}); err != nil {
		t.Fatal(err)
	}
	p, err := project.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	set(&p.Config)
	s := &site{Project: p}
	srv := server.New(p, server.Part{})
	srv.Console = console.New(p).Handler()
	if s.public, s.private, err = srv.Handlers(func() {}); err != nil {
		t.Fatal(err)
	}
	if s.routes, err = srv.Routes(); err != nil {
		t.Fatal(err)
	}
	return s
}

// A flood is a body without end that repeats itself after its beginning.
type flood struct {
	rest  []byte
	again []byte
	left  int64
	read  int64
}

func newFlood(begin, again string, size int64) *flood {
	return &flood{rest: []byte(begin), again: []byte(strings.Repeat(again, 1+4096/len(again))), left: size}
}

func (f *flood) Read(b []byte) (int, error) {
	if f.left <= 0 {
		return 0, io.EOF
	}
	if len(f.rest) == 0 {
		f.rest = f.again
	}
	n := copy(b[:min(int64(len(b)), f.left)], f.rest)
	f.rest, f.left, f.read = f.rest[n:], f.left-int64(n), f.read+int64(n)
	return n, nil
}

// worst are bodies that take much more memory than they have bytes, or a file, when they are
// taken in whole.
var worst = []struct{ name, kind, begin, again string }{
	{"empty elements", "application/x-www-form-urlencoded", "request=<submit_batch><batch>", "<job/>"},
	{"empty elements after a key", "application/x-www-form-urlencoded", "request=<submit_batch><authenticator>x</authenticator><batch>", "<job/>"},
	{"names", "application/x-www-form-urlencoded", "request=<query_files>", "<phys_name/>"},
	{"nested elements", "application/x-www-form-urlencoded", "request=<submit_batch>", "<a>"},
	{"attributes", "application/x-www-form-urlencoded", "request=<submit_batch ", "a='' "},
	{"fields of a form", "application/x-www-form-urlencoded", "", "a&"},
	{"a value of a form", "application/x-www-form-urlencoded", "a=", "a"},
	{"a file", "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"file_0\"; filename=\"f\"\r\n\r\n", "x"},
	{"a file after a request", "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n<upload_files><phys_name>x</phys_name></upload_files>\r\n--b\r\nContent-Disposition: form-data; name=\"file_0\"; filename=\"f\"\r\n\r\n", "x"},
	{"parts", "multipart/form-data; boundary=b", "", "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n"},
	{"header of a part", "multipart/form-data; boundary=b", "--b\r\n", "a: b\r\n"},
	{"JSON", "application/json", `{"name":"a","app":"a","workunits":[{"inputs":[`, "{},"},
	{"results", "text/xml", "<scheduler_request><authenticator>x</authenticator>", "<result/>"},
	{"results in progress", "text/xml", "<scheduler_request><other_results>", "<other_result/>"},
	{"tags that do not end", "text/xml", "<scheduler_request>", "<"},
	{"an upload", "text/plain", "<data_server_request><file_upload><file_info><name>a</name><max_nbytes>1e9</max_nbytes></file_info><nbytes>1000000000</nbytes><offset>0</offset><data>\n", "x"},
}

// For any request without a key, on any path, the server reads at most as much as the table of
// routes allows, takes little memory, and makes no file.
func TestStrangersTakeLittle(t *testing.T) {
	s := newSite(t)
	before := files(t, s.Dir)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	for pattern, bound := range s.routes {
		method, path, ok := strings.Cut(pattern, " ")
		if !ok {
			method, path = http.MethodPost, pattern
		}
		path = strings.NewReplacer("{$}", "", "{hash}", "0", "{name}", "a", "{id}", "1", "{file...}", "a").Replace(path)
		s.flood(t, s.public, method, master+path, bound)
	}
	for _, path := range []string{"/", "/enter?token=a", "/leave", "/do/cancel", "/metrics", "/debug/pprof/", "/debug/pprof/symbol", "/healthz", "/readyz"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			s.flood(t, s.private, method, "http://127.0.0.1:8081"+path, limit.Small)
		}
	}
	if got := files(t, temp); len(got) > 0 {
		t.Errorf("temporary files: %v", got)
	}
	if got := files(t, s.Dir); !slices.Equal(got, before) {
		t.Errorf("files of the project: %v, want %v", got, before)
	}
}

// flood sends each of the worst bodies.
func (s *site) flood(t *testing.T, h http.Handler, method, url string, bound limit.Bound) {
	t.Helper()
	const (
		size  = 96 << 20
		slack = 64 << 10 // of buffers
	)
	for _, w := range worst {
		for _, says := range []int64{8 << 20, -1} { // more is refused unread by some
			body := newFlood(w.begin, w.again, size)
			r := httptest.NewRequestWithContext(t.Context(), method, url, struct{ io.Reader }{body})
			r.ContentLength = says
			r.Header.Set("Content-Type", w.kind)
			r.Header.Set("Authorization", "Bearer starling_x")
			idle := heap()
			peak := watch(func() { h.ServeHTTP(httptest.NewRecorder(), r) })
			if body.read > bound.Stranger+slack {
				t.Errorf("%s %s: of %s, %d bytes are read, want at most %d", method, url, w.name, body.read, bound.Stranger)
			}
			if peak > idle+most {
				t.Errorf("%s %s: %s takes %d MB", method, url, w.name, (peak-idle)>>20)
			}
		}
	}
}

// most is the maximum increase of the heap compared with an idle server.
const most = 64 << 20

// A token's bearer takes no more memory than the counts of a batch allow, however many elements a
// request has.
func TestBearersTakeLittle(t *testing.T) {
	s := newSite(t)
	secret, hash := api.NewToken()
	storetest.Update(t, s.Store, func(tx *store.Tx) error {
		_, err := tx.InsertToken(store.Token{CreateTime: time.Now(), Name: "lab", Hash: hash})
		return err
	})
	key := "<authenticator>" + api.Authenticator(s.UploadKey().Text(), hash) + "</authenticator>"
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	const form, text = "application/x-www-form-urlencoded", "application/json"
	for _, tt := range []struct{ name, path, kind, begin, again, says string }{
		{"inputs", "api/v1/batches", text, `{"name":"a","app":"a","workunits":[{"inputs":[{}`, ",{}", "more than 100000 input files"},
		{"nulls", "api/v1/batches", text, `{"name":"a","app":"a","workunits":[{"inputs":[null`, ",null", "more than 100000 input files"},
		{"workunits", "api/v1/estimate", text, `{"name":"a","app":"a","workunits":[{}`, ",{}", "more than 10000 workunits"},
		{"workunits in other letters", "api/v1/batches", text, `{"name":"a","app":"a","WORKUNITS":[{}`, ",{}", "more than 10000 workunits"},
		{"depth", "api/v1/batches", text, `{"name":`, "[", "not understood"},
		{"jobs", "submit_rpc_handler.php", form, "request=<submit_batch>" + key + "<batch>", "<job/>", "more than 10000 jobs"},
		{"files", "submit_rpc_handler.php", form, "request=<submit_batch>" + key + "<batch><job>", "<input_file/>", "more than 100000 input files"},
		{"names", "job_file.php", form, "request=<query_files>" + key, "<phys_name/>", "more than 10000 names"},
		{"nested elements", "submit_rpc_handler.php", form, "request=<submit_batch>" + key, "<a>", "nested too deep"},
		{"attributes", "submit_rpc_handler.php", form, "request=<submit_batch>" + key + "<a ", "a=' ' ", "a tag is too long"},
		{"attributes after a comment", "submit_rpc_handler.php", form, "request=<submit_batch>" + key + "<!-- <x \" --><a b=\">\" ", "a=\">\" ", "a tag is too long"},
	} {
		body := newFlood(tt.begin, tt.again, 60<<20)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, master+tt.path, struct{ io.Reader }{body})
		r.ContentLength = 60 << 20
		r.Header.Set("Content-Type", tt.kind)
		r.Header.Set("Authorization", "Bearer "+secret)
		rec, idle := httptest.NewRecorder(), heap()
		if peak := watch(func() { s.public.ServeHTTP(rec, r) }); peak > idle+most {
			t.Errorf("%s take %d MB", tt.name, (peak-idle)>>20)
		}
		if got := rec.Body.String(); !strings.Contains(got, tt.says) {
			t.Errorf("%s: %.300s, want %q", tt.name, got, tt.says)
		}
	}
}

// heap returns the size of the heap's objects in bytes.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// watch returns the size of the heap at its largest while f runs.
func watch(f func()) (peak uint64) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			peak = max(peak, heap())
			<-time.After(time.Millisecond) // or it would use a whole processor
		}
	})
	f()
	cancel()
	wg.Wait()
	return peak
}

func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(path, "project.db") {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The handbook lists the limits of each path.
func TestTheHandbookListsTheBounds(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("| Path | Read of a stranger's request | In all | Kept in |\n|---|---|---|---|\n")
	routes := newSite(t).routes
	var small []string
	for _, pattern := range slices.Sorted(maps.Keys(routes)) {
		r := routes[pattern]
		if r == limit.Small {
			small = append(small, "`"+pattern+"`")
			continue
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", pattern, bytesOf(r.Stranger), bytesOf(r.Most), r.Kept)
	}
	fmt.Fprintf(&b, "| everything at `admin_listen`, and %s | %s | %s | %s |\n", strings.Join(small, ", "), bytesOf(limit.Small.Stranger), bytesOf(limit.Small.Most), limit.Small.Kept)
	const name = "../../docs/security.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- routes -->\n", "<!-- end -->\n"
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, okay := strings.Cut(rest, end)
	if !ok || !okay {
		t.Fatalf("%s has no %s", name, begin)
	}
	want := head + begin + b.String() + end + tail
	if want == string(text) {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("%s differs from the table of routes: UPDATE=1 go test rewrites it", name)
	}
	if err := os.WriteFile(name, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
}

func bytesOf(n int64) string {
	switch {
	case n == limit.Unbounded:
		return "the size in the certificate"
	case n >= 1<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n == 0:
		return "0"
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
