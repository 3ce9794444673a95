package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
)

// A project is a scheduler that always has more tasks.
type project struct {
	*httptest.Server
	conns atomic.Int64

	mu       sync.Mutex
	hosts    int64
	tasks    int
	open     map[string]bool // dispatched but not reported
	trouble  func(req *protocol.SchedulerRequest) int
	delay    time.Duration
	asked    map[int64]time.Time
	tooEarly int
}

func newProject(t *testing.T) *project {
	p := &project{open: make(map[string]bool), asked: make(map[int64]time.Time)}
	p.Server = httptest.NewUnstartedServer(p)
	p.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			p.conns.Add(1)
		}
	}
	p.Start()
	t.Cleanup(p.Close)
	return p
}

func (p *project) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprintf(w, "<scheduler>%s/cgi</scheduler>", p.URL)
		return
	}
	body, _ := io.ReadAll(r.Body)
	req, err := protocol.ParseSchedulerRequest(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trouble != nil {
		if code := p.trouble(req); code != 0 {
			http.Error(w, "trouble", code)
			return
		}
	}
	reply := work(1e9)
	reply.RequestDelay = p.delay
	if req.HostID == 0 {
		p.hosts++
		reply.HostID = p.hosts
	} else if last := p.asked[req.HostID]; !last.IsZero() && time.Since(last) < p.delay {
		p.tooEarly++
	}
	for _, x := range req.Results {
		delete(p.open, x.Name)
		reply.ResultAcks = append(reply.ResultAcks, x.Name)
	}
	if req.CPUReqSeconds > 0 {
		p.tasks++
		name := fmt.Sprint("r", p.tasks)
		p.open[name] = true
		reply.Results = work(1e9, name).Results
	}
	_, _ = w.Write(reply.Encode())
	p.asked[max(req.HostID, reply.HostID)] = time.Now()
}

func (p *project) config() Config {
	mix, _ := ParseMix("linux")
	return Config{
		URL: p.URL, Key: "k", Hosts: 10, Connections: 4, Jobs: 1, Mix: mix, Duration: testwait.Patience, Timeout: testwait.Patience, KeepAlive: true,
	}
}

// Every task that was dispatched is reported, and both are counted as the project does.
func TestRunCountsWhatTheProjectCounts(t *testing.T) {
	for _, alive := range []bool{true, false} {
		t.Run(fmt.Sprint("keep-alive ", alive), func(t *testing.T) {
			p := newProject(t)
			c := p.config()
			c.KeepAlive, c.Requests = alive, 300
			r, err := Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			m := r.Measured
			if p.hosts != 10 || r.Refused != 0 || m.Requests != 300 || m.Latency.n != 300 || len(m.Errors) > 0 {
				t.Errorf("%d hosts, %d refused, %d requests, errors %v", p.hosts, r.Refused, m.Requests, m.Errors)
			}
			if p.tasks != 310 || r.Tasks() != 310 || len(p.open) != 0 || r.Unreported != 0 || m.Reported+r.Settling.Reported != 310 {
				t.Errorf("%d tasks, counted %d; %d left open; reported %d and %d", p.tasks, r.Tasks(), len(p.open), m.Reported, r.Settling.Reported)
			}
			if r.Rate() <= 0 || m.Bytes/m.Requests < 5000 {
				t.Errorf("%v tasks a second, %d bytes in %d requests", r.Rate(), m.Bytes, m.Requests)
			}
			if n := p.conns.Load(); alive && n > 4 || !alive && n < 310 {
				t.Errorf("%d connections", n)
			}
			var text bytes.Buffer
			if err := r.Write(&text); err != nil || !strings.Contains(text.String(), "300 dispatched") {
				t.Errorf("%v: %s", err, text.String())
			}
		})
	}
}

// The measurement also ends at the maximum number of tasks.
func TestTasksEndTheRun(t *testing.T) {
	p := newProject(t)
	c := p.config()
	c.Tasks = 50
	r, err := Run(t.Context(), c)
	if n := r.Measured.Dispatched; err != nil || n < 50 || n > 54 {
		t.Errorf("%d dispatched, want 50 and at most one more a connection; %v", n, err)
	}
}

// Errors are counted by their cause and do not end the run, and the remaining tasks are reported
// after them.
func TestErrorsAreCounted(t *testing.T) {
	p := newProject(t)
	n := 0
	p.trouble = func(req *protocol.SchedulerRequest) int {
		if req.HostID == 0 {
			return 0
		}
		if n++; n%10 == 0 {
			return http.StatusServiceUnavailable
		}
		return 0
	}
	c := p.config()
	c.Requests = 50
	r, err := Run(t.Context(), c)
	if err != nil || r.Measured.Errors["HTTP 503"] == 0 || len(r.Measured.Errors) != 1 || len(p.open) != 0 || r.Unreported != 0 {
		t.Errorf("errors %v, %d open, %d unreported, %v", r.Measured.Errors, len(p.open), r.Unreported, err)
	}
}

// A project that accepts no host ends the run with an error that contains the project's message.
func TestNoHostIsTaken(t *testing.T) {
	stranger := &protocol.SchedulerReply{Messages: []protocol.Message{{Priority: protocol.PriorityNotice, Text: "Invalid or missing account key."}}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprintf(w, "<scheduler>http://%s/cgi</scheduler>", r.Host)
			return
		}
		_, _ = w.Write(stranger.Encode())
	}))
	defer srv.Close()
	c := (&project{Server: srv}).config()
	if _, err := Run(t.Context(), c); !errors.Is(err, ErrNoHost) || !strings.Contains(err.Error(), "Invalid or missing account key") {
		t.Errorf("got %v", err)
	}
}

// Hosts wait as long as the project requests only if HonorDelay is set.
func TestDelays(t *testing.T) {
	for _, honor := range []bool{true, false} {
		p := newProject(t)
		p.delay = 200 * time.Millisecond
		c := p.config()
		c.HonorDelay, c.Requests = honor, 30
		if _, err := Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if early := p.tooEarly > 0; early == honor {
			t.Errorf("honored %v: %d of the requests came too early", honor, p.tooEarly)
		}
	}
}

// A run can be stopped even if the server does not answer.
func TestARunCanBeStopped(t *testing.T) {
	p := newProject(t)
	ctx, stop := context.WithCancel(t.Context())
	stuck := make(chan struct{})
	c := p.config()
	p.trouble = func(req *protocol.SchedulerRequest) int {
		if req.HostID != 0 {
			stop()
			<-stuck
		}
		return 0
	}
	r, err := Run(ctx, c)
	close(stuck)
	if err != nil || r.Measured.Requests != 0 || len(r.Measured.Errors) != 0 {
		t.Errorf("%d requests, errors %v, %v", r.Measured.Requests, r.Measured.Errors, err)
	}
}

// Without the operator's consent, connections are made only to this computer, wherever a name, a
// redirect or the project's page leads.
func TestForeignAddressesAreRefused(t *testing.T) {
	const foreign = "http://192.0.2.1/p/" // reserved for documentation
	page := func(text string) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if text == "" {
				http.Redirect(w, r, foreign, http.StatusFound)
				return
			}
			fmt.Fprint(w, text)
		}))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	for _, test := range []struct {
		name, url string
	}{
		{"address", foreign},
		{"name", "http://boinc.example.org/p/"},
		{"name that looks like a loopback address", "http://127.0.0.1.example.org/p/"},
		{"all addresses", "http://0.0.0.0/p/"},
		{"redirect", page("")},
		{"scheduler elsewhere", page("<scheduler>" + foreign + "cgi</scheduler>")},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newProject(t).config()
			c.URL, c.Hosts, c.Timeout = test.url, 1, testwait.Patience
			_, err := Run(t.Context(), c)
			if !errors.Is(err, ErrForeign) && (err == nil || !strings.Contains(err.Error(), "address refused")) {
				t.Errorf("got %v, want that the address is refused", err)
			}
		})
	}
	c := newProject(t).config()
	c.URL, c.Mine = foreign, true
	if err := c.Check(); err != nil {
		t.Errorf("the operator's own project: %v", err)
	}
}
