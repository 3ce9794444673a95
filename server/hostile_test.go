package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/workgen"
)

// A besieged world is a project that Serve runs on loopback, for those who mean it
// harm. What they do goes over real connections.
type besieged struct {
	*world
	addr string // HOST:PORT
	base string // the project's URL
	log  *lockedBuffer
	stop func() // ends Serve and waits for it
}

// besiege serves a new project with an application. Settings are as for newWorld.
func besiege(t *testing.T, settings ...string) *besieged {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &besieged{addr: l.Addr().String(), log: new(lockedBuffer)}
	b.base = "http://" + b.addr + "/demo/"
	b.world = newWorld(t, append([]string{`master_url = "` + master + `"`, `master_url = "` + b.base + `"`}, settings...)...)
	b.setUp()
	p, err := server.Open(t.Context(), b.dir, slog.New(slog.NewTextHandler(b.log, nil)))
	b.must(err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Serve(ctx, l, server.Part{Roles: []string{"web", "scheduler", "upload"}}) }()
	b.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		_ = p.Close()
	})
	t.Cleanup(b.stop)
	return b
}

// post sends a body to a part of the project and returns the answer.
func (b *besieged) post(part string, body io.Reader, header ...string) (int, string) {
	b.t.Helper()
	code, text, err := b.try(http.MethodPost, part, body, header...)
	b.must(err)
	return code, text
}

// try sends a request and returns what came of it. It is safe for concurrent use.
func (b *besieged) try(method, part string, body io.Reader, header ...string) (int, string, error) {
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.base+part, body)
	if err != nil {
		return 0, "", err
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// request is what a host of an account sends that asks for work.
func request(key protocol.Authenticator, name string, change ...func(r *protocol.SchedulerRequest)) []byte {
	r := &protocol.SchedulerRequest{
		Authenticator: key, Client: protocol.Version{Major: 8, Minor: 0, Release: 2}, CPUReqSeconds: 1000,
		Platform: "x86_64-pc-linux-gnu", Host: protocol.HostInfo{
			DomainName: name, HostCPID: name, NCPUs: 1, Fpops: 1e9, MemBytes: 8e9, DiskTotal: 1e12, DiskFree: 1e12,
		},
	}
	for _, c := range change {
		c(r)
	}
	return r.Encode()
}

// A lockedBuffer takes a log while it is read.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// No number of unsuitable hosts ends work that waits for suitable ones.
func TestUnsuitableHostsEndNoWork(t *testing.T) {
	for _, tt := range []struct {
		name     string
		settings []string
		platform string // of the application's second version, the newest
		host     func(r *protocol.SchedulerRequest)
	}{
		{"too little memory", nil, "", func(r *protocol.SchedulerRequest) { r.Host.MemBytes = 1e6 }},
		{"too little disk", nil, "", func(r *protocol.SchedulerRequest) { r.Host.DiskFree = 1 }},
		{"another platform, though the limit is set", []string{"max_infeasible = 0", "max_infeasible = 5"}, "", func(r *protocol.SchedulerRequest) { r.Platform = "other" }},
		{"no version that this client runs, though the limit is set", []string{"max_infeasible = 0", "max_infeasible = 5"}, "other", func(r *protocol.SchedulerRequest) { r.Platform = "other" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := besiege(t, tt.settings...)
			if tt.platform != "" {
				b.must(b.p.AddVersion(t.Context(), server.NewVersion{
					App: "upper", Platform: tt.platform, Number: "2.00", Main: b.file("upper", "program"), MinCore: "99.0",
				}, b.now()))
			}
			for i := range 3 {
				b.create(workgen.Params{Name: fmt.Sprint("wu", i), RscDiskBound: 1e8}, "text")
			}
			key := b.user("mallory@example.org")
			for i := range 130 {
				if _, reply := b.post("cgi", bytes.NewReader(request(key, fmt.Sprint("host", i), tt.host))); strings.Contains(reply, "<result>") {
					t.Fatalf("host %d got work: %s", i, reply)
				}
			}
			b.step()
			if st := b.status(); st.Results.ByServerState["unsent"] != 3 || st.Workunits.Unfinished != 3 {
				t.Errorf("got %+v, %+v", st.Results, st.Workunits)
			}
			_, reply := b.post("cgi", bytes.NewReader(request(b.user("ada@example.org"), "box")))
			if !strings.Contains(reply, "<result>") {
				t.Errorf("a suitable host gets %s", reply)
			}
		})
	}
}
