package agent_test

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/agent"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// An answer is one recorded HTTP answer. One with code 0 is a connection that
// cannot be made.
const hangs = -1

type answer struct {
	code int // or hangs
	body []byte
	cut  bool // the connection ends before the body does
}

var deadline = regexp.MustCompile(`<report_deadline>\d{10}`)

// recorded reads an answer that a real server gave, with deadlines that are still to come.
func recorded(t *testing.T, name string) answer {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "protocol", "testdata", "captures", filepath.FromSlash(name)))
	must(t, err)
	head, body, ok := bytes.Cut(b, []byte("\r\n\r\n"))
	if !ok {
		head, body, _ = bytes.Cut(b, []byte("\n\n"))
	}
	code, err := strconv.Atoi(string(head[9:12]))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return answer{code: code, body: deadline.ReplaceAll(body, []byte("<report_deadline>4000000000"))}
}

// A peer is a project that gives recorded answers: those for each kind of
// request in their order, the last one again and again.
type peer struct {
	mu       sync.Mutex
	answers  map[string][]answer
	requests []*protocol.SchedulerRequest
	raw      []byte // the last of them, as it came
	language string // of the last of them
	asked    map[string]int
	told     []string // requests that the account manager received
}

// Kinds of requests. Downloads are identified by file name.
const (
	master = "master"
	sched  = "scheduler"
	upload = "upload"
	manage = "account manager"
)

func kindOf(r *http.Request) string {
	switch {
	case strings.HasSuffix(r.URL.Path, "/cgi"):
		return sched
	case strings.HasSuffix(r.URL.Path, "/rpc.php"):
		return manage
	case strings.HasSuffix(r.URL.Path, "/file_upload_handler"):
		return upload
	case strings.Contains(r.URL.Path, "/download/"):
		return path.Base(r.URL.Path)
	}
	return master
}

func (p *peer) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	kind := kindOf(r)
	if kind == sched {
		p.language = r.Header.Get("Accept-Language")
		if req, err := protocol.ParseSchedulerRequest(body); err == nil {
			p.requests, p.raw = append(p.requests, req), body
		}
	}
	if kind == manage {
		p.told = append(p.told, string(body))
	}
	list := p.answers[kind]
	if len(list) == 0 {
		list = []answer{{code: http.StatusNotFound}}
	}
	a := list[min(p.asked[kind], len(list)-1)]
	p.asked[kind]++
	switch a.code {
	case 0:
		return nil, io.ErrUnexpectedEOF
	case hangs:
		p.mu.Unlock()
		<-r.Context().Done()
		p.mu.Lock()
		return nil, r.Context().Err()
	}
	content := io.Reader(bytes.NewReader(a.body))
	if a.cut {
		content = io.MultiReader(content, cut{})
	}
	return &http.Response{
		StatusCode: a.code, Status: http.StatusText(a.code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header), Body: io.NopCloser(content), ContentLength: -1, Request: r,
	}, nil
}

type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// request returns the n-th scheduler request, from 0.
func (p *peer) request(t *testing.T, n int) *protocol.SchedulerRequest {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if n >= len(p.requests) {
		t.Fatalf("the scheduler was asked %d times, want more than %d", len(p.requests), n)
	}
	return p.requests[n]
}

// reports returns the scheduler requests that reported results, oldest first.
func (p *peer) reports() (found []*protocol.SchedulerRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.requests {
		if len(r.Results) > 0 {
			found = append(found, r)
		}
	}
	return found
}

// spoken returns the language in which the scheduler was asked to answer at last.
func (p *peer) spoken() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.language
}

func (p *peer) count(kind string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[kind]
}

// A world is an agent with one project, in a bubble where waiting costs nothing.
type world struct {
	*peer
	t    *testing.T
	dir  string
	url  string
	stop func()
	a    *agent.Agent
	// transport carries requests in place of the peer, if it is not nil.
	transport http.RoundTripper
	// detect finds coprocessors, if it is not nil.
	detect func(context.Context) gpus.Report
	// tick is the agent's.
	tick time.Duration
	// logged is called with each message of the agent's log, if it is not nil. The loop calls it in
	// its own goroutine.
	logged func(msg string)
}

// tick is the maximum time between two passes of an agent. A minute, the default, would make tests that
// last for days five times as long. An agent that did something in each pass, such as contact a
// server, would still do it 288 times a day, which is more than any test allows.
const tick = 5 * time.Minute

const (
	demoURL  = "http://127.0.0.1:18080/demo/"
	benchURL = "http://127.0.0.1:8180/bench/"
)

// newWorld prepares a data directory. fill, which may be nil, puts more into its state. It must be
// called outside the bubble, since measuring needs real time.
func newWorld(t *testing.T, masterURL string, answers map[string][]answer, fill func(*state.DB, *state.Tx)) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), url: masterURL, peer: &peer{answers: answers, asked: make(map[string]int)}}
	w.fill(t, fill)
	return w
}

// fill makes the data directory.
func (w *world) fill(t testing.TB, fill func(*state.DB, *state.Tx)) {
	t.Helper()
	db, err := state.Open(filepath.Join(w.dir, "state.db"))
	must(t, err)
	err = db.Update(func(tx *state.Tx) {
		db.Hosts.Put(tx, state.Self, state.Host{CPID: strings.Repeat("c", 32), Fpops: 1e9 + 1, Iops: 1e9})
		if fill != nil {
			fill(db, tx)
		}
	})
	if err == nil {
		err = db.Close()
	}
	if err == nil {
		err = settings.WriteAccount(w.dir, settings.Account{MasterURL: w.url, Authenticator: "00000000000000000000000000000001", ResourceShare: 100})
	}
	must(t, err)
	w.configure(t, "")
}

// configure writes the settings. Programs run at the priority of the tests, otherwise they would
// starve while other programs compute.
func (w *world) configure(t testing.TB, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(w.dir, settings.File), []byte("no_priority_change = true\n"+text), 0o600))
}

// file puts a file into the project's folder.
func (w *world) file(name, content string) {
	w.t.Helper()
	folder := filepath.Join(w.dir, "projects", protocol.EscapeURL(w.url))
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// run plays f with the agent running, in a bubble.
func (w *world) run(f func(t *testing.T)) {
	w.t.Helper()
	synctest.Test(w.t, func(t *testing.T) {
		w.start(t)
		defer func() { w.stop() }()
		f(t)
	})
}

// logOf returns a log in which an event that no component handles is an error of the test.
func logOf(t *testing.T, logged func(msg string)) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.MessageKey && a.Value.String() == "an event was not handled" {
			t.Error(a.Value)
		}
		if a.Key == slog.MessageKey && logged != nil {
			logged(a.Value.String())
		}
		return a
	}}))
}

func (w *world) start(t *testing.T) {
	t.Helper()
	transport := w.transport
	if transport == nil {
		transport = w.peer
	}
	a, err := agent.New(agent.Config{DataDir: w.dir, Log: logOf(t, w.logged), Transport: transport, Version: "test", Detect: w.detect, Tick: cmp.Or(w.tick, tick)})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	w.a = a
	w.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("agent: %v", err)
		}
	}
}

// after lets time pass and returns the agent's status.
func (w *world) after(t *testing.T, d time.Duration) control.Status {
	t.Helper()
	time.Sleep(d)
	s, err := w.a.Status(t.Context())
	must(t, err)
	return s
}

// project returns the only project's view.
func (w *world) project(t *testing.T, d time.Duration) control.Project {
	t.Helper()
	s := w.after(t, d)
	if len(s.Projects) != 1 {
		t.Fatalf("%d projects, want 1", len(s.Projects))
	}
	return s.Projects[0]
}

// answers for a project whose master page is in order.
func withMaster(t *testing.T, url string, schedulers ...answer) map[string][]answer {
	page := recorded(t, "debian-7.20.5/faults/002-master.response.http")
	page.body = bytes.ReplaceAll(page.body, []byte("http://127.0.0.1:18080/demo_cgi/"), []byte(url))
	return map[string][]answer{master: {page}, sched: schedulers}
}

var must = testerr.Must
