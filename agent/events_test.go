package agent_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

const eventsURL = demoURL + "work_events"

// A teller is a project without work that offers to announce new work. Each test sets how it
// answers those who wait.
type teller struct {
	*peer
	mu     sync.Mutex
	waits  []*http.Request
	answer func(n int, r *http.Request) (*http.Response, error)
}

func (p *teller) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/work_events") {
		return p.peer.RoundTrip(r)
	}
	p.mu.Lock()
	p.waits = append(p.waits, r)
	n := len(p.waits)
	p.mu.Unlock()
	return p.answer(n, r)
}

func (p *teller) waited() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waits)
}

// events answers with a stream.
func events(r *http.Request, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, Body: body, Header: http.Header{"Content-Type": {"text/event-stream"}}}
}

// quiet returns a stream that brings nothing but signs of life, until the request is given up.
func quiet(r *http.Request) (*http.Response, *io.PipeWriter) {
	pr, pw := io.Pipe()
	go func() {
		for {
			if _, err := io.WriteString(pw, protocol.WorkHeartbeat); err != nil {
				return
			}
			select {
			case <-r.Context().Done():
				_ = pw.CloseWithError(r.Context().Err())
				return
			case <-time.After(25 * time.Second):
			}
		}
	}()
	return events(r, pr), pw
}

// listening makes a world with a teller, whose agent has asked once.
func listening(t *testing.T, offered string, delay time.Duration) (*world, *teller) {
	t.Helper()
	none := protocol.SchedulerReply{
		ProjectName: "Demo", MasterURL: demoURL, RequestDelay: delay, Messages: []protocol.Message{{Priority: protocol.PriorityLow, Text: "No tasks sent"}},
		WorkEvents: &protocol.WorkEvents{URL: offered, Mark: "m1", Heartbeat: 50 * time.Second},
	}
	w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 200, body: none.Encode()}), func(db *state.DB, tx *state.Tx) {
		db.Projects.Put(tx, demoURL, state.Project{MasterURL: demoURL, SchedulerURLs: []string{demoURL + "cgi"}, HostID: 7, Contact: state.Contact{Initialized: true}})
	})
	p := &teller{peer: w.peer}
	w.transport = p
	return w, p
}

// asked returns the number of scheduler requests.
func (p *peer) sessions() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.requests)
}

// An agent that got no work waits for it on one connection. It asks as soon as the project
// announces some, once the request delay is over, and not before.
func TestAnAgentHearsOfNewWork(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		delay, after time.Duration // the request delay, and the time of the event
		want         time.Duration // when the agent asks
	}{
		{"during the wait after no work", 7 * time.Second, time.Minute, time.Minute},
		{"during the request delay", 2 * time.Minute, time.Minute, 2 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, p := listening(t, eventsURL, tt.delay)
			p.answer = func(n int, r *http.Request) (*http.Response, error) {
				resp, pw := quiet(r)
				if n == 1 {
					time.AfterFunc(tt.after, func() { _, _ = io.WriteString(pw, protocol.WorkEvent) })
				}
				return resp, nil
			}
			w.run(func(t *testing.T) {
				began := time.Now()
				w.after(t, tt.want-3*time.Second)
				if n := p.sessions(); n != 1 || p.waited() != 1 {
					t.Fatalf("%d requests and %d connections before the event", n, p.waited())
				}
				r := p.waits[0]
				if r.URL.Query().Get("hostid") != "7" || r.URL.Query().Get("mark") != "m1" || r.Header.Get("Authorization") != "Bearer 00000000000000000000000000000001" {
					t.Errorf("waits by %s, %v", r.URL, r.Header)
				}
				w.after(t, 6*time.Second)
				if n := p.sessions(); n != 2 {
					t.Fatalf("%d requests %v after the first", n, time.Since(began))
				}
				d, err := w.a.Decision(t.Context())
				must(t, err)
				// It brought nothing, which does not make the wait longer.
				if until := d.Snapshot.Projects[0].Backoff; until.After(began.Add(20 * time.Minute)) {
					t.Errorf("the wait lasts until %v", until)
				}
				w.after(t, time.Minute)
				if p.waited() != 2 || p.sessions() != 2 {
					t.Errorf("%d connections, %d requests", p.waited(), p.sessions())
				}
			})
		})
	}
}

// Whatever a server makes of the connection, the agent is not kept busy: it neither connects nor asks
// more than a few times an hour.
func TestAnAgentIsNotKeptBusyByEvents(t *testing.T) {
	t.Parallel()
	text := func(s string) func(int, *http.Request) (*http.Response, error) {
		return func(_ int, r *http.Request) (*http.Response, error) {
			return events(r, io.NopCloser(strings.NewReader(s))), nil
		}
	}
	for _, tt := range []struct {
		name   string
		answer func(n int, r *http.Request) (*http.Response, error)
	}{
		{"it says at once that there is work, each time", text(protocol.WorkEvent)},
		{"it says so a thousand times", text(strings.Repeat(protocol.WorkEvent, 1000))},
		{"it closes at once", text("")},
		{"it answers nonsense", text(strings.Repeat("\x00\xff", 1<<20))},
		{"it floods", text(strings.Repeat(protocol.WorkHeartbeat, 1<<20))},
		{"it refuses", func(_ int, r *http.Request) (*http.Response, error) {
			resp := events(r, http.NoBody)
			resp.StatusCode = http.StatusServiceUnavailable
			return resp, nil
		}},
		{"it sends elsewhere", func(_ int, r *http.Request) (*http.Response, error) {
			resp := events(r, http.NoBody)
			resp.StatusCode = http.StatusFound
			resp.Header.Set("Location", "http://victim.example/")
			return resp, nil
		}},
		{"it has a page", func(_ int, r *http.Request) (*http.Response, error) {
			resp := events(r, io.NopCloser(strings.NewReader(protocol.WorkEvent)))
			resp.Header.Set("Content-Type", "text/html")
			return resp, nil
		}},
		{"it cannot be reached", func(int, *http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }},
		{"it never answers", func(_ int, r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, p := listening(t, eventsURL, 7*time.Second)
			p.answer = tt.answer
			w.run(func(t *testing.T) {
				w.after(t, 24*time.Hour)
				if n, k := p.waited(), p.sessions(); n > 100 || k > 120 || n < 5 {
					t.Errorf("%d connections and %d requests a day", n, k)
				}
			})
		})
	}
}

// A project cannot have the agents of its volunteers connect to others.
func TestEventsAreOfTheProjectsOwnServers(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://victim.example/work_events", "http://127.0.0.1:1/work_events", "https://127.0.0.1:18080/demo/", "file:///etc/passwd", "://", ""} {
		w, p := listening(t, url, 7*time.Second)
		p.answer = func(_ int, r *http.Request) (*http.Response, error) { resp, _ := quiet(r); return resp, nil }
		w.run(func(t *testing.T) {
			w.after(t, time.Hour)
			if p.waited() != 0 {
				t.Errorf("%q: the agent connects", url)
			}
		})
	}
}

// The agent does not listen for work that is not wanted.
func TestListeningEndsWithTheWish(t *testing.T) {
	t.Parallel()
	w, p := listening(t, eventsURL, 7*time.Second)
	p.answer = func(_ int, r *http.Request) (*http.Response, error) { resp, _ := quiet(r); return resp, nil }
	w.run(func(t *testing.T) {
		w.after(t, time.Minute)
		if p.waited() != 1 {
			t.Fatalf("%d connections", p.waited())
		}
		must(t, w.a.SteerProject(t.Context(), demoURL, control.SuspendProject))
		synctest.Wait()
		w.after(t, time.Second)
		if p.waits[0].Context().Err() == nil {
			t.Error("the connection of a suspended project stays")
		}
	})
}
