package schedulerop_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/protocol"
)

// A stream is a body whose parts arrive at intervals.
type stream struct {
	parts []string
	every time.Duration
	ctx   context.Context
}

func (s *stream) Read(b []byte) (int, error) {
	if len(s.parts) == 0 {
		<-s.ctx.Done()
		return 0, s.ctx.Err()
	}
	select {
	case <-time.After(s.every):
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
	n := copy(b, s.parts[0])
	s.parts = s.parts[1:]
	return n, nil
}

func (s *stream) Close() error { return nil }

type trip func(*http.Request) (*http.Response, error)

func (t trip) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// Whatever a server sends, waiting ends with the news of work or an error. It lasts as long as
// there are signs of life.
func TestAwaitWork(t *testing.T) {
	offer := protocol.WorkEvents{URL: "http://p.example/work_events?x=1", Mark: "m", Heartbeat: 40 * time.Second}
	beat, work := protocol.WorkHeartbeat, protocol.WorkEvent
	for _, tt := range []struct {
		name  string
		code  int
		parts []string
		every time.Duration
		least time.Duration // that it lasts
		most  time.Duration
		ok    bool
	}{
		{"work at once", 200, []string{work}, time.Second, time.Second, time.Second, true},
		{"work after an hour", 200, append(strings.SplitAfter(strings.Repeat(beat, 90), beat)[:90], work), 40 * time.Second, time.Hour, 2 * time.Hour, true},
		{"work in pieces", 200, []string{"event: ", "work\r\n", "data:\n", "\n"}, time.Second, 4 * time.Second, 4 * time.Second, true},
		{"other events", 200, []string{"event: news\n\n", "data: work\n\n"}, time.Second, time.Minute, 3 * time.Minute, false},
		{"silence", 200, nil, 0, 100 * time.Second, 100 * time.Second, false},
		{"late signs of life", 200, []string{beat, work}, 101 * time.Second, 100 * time.Second, 100 * time.Second, false},
		{"a line without end", 200, []string{strings.Repeat("x", 500), strings.Repeat("x", 500)}, time.Second, time.Second, 3 * time.Second, false},
		{"refused", 503, []string{work}, 0, 0, 0, false},
		{"sent elsewhere", 302, []string{work}, 0, 0, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				c := client(trip(func(r *http.Request) (*http.Response, error) {
					asked++
					if q := r.URL.Query(); q.Get("hostid") != "7" || q.Get("mark") != "m" || q.Get("x") != "1" || r.Header.Get("Authorization") != "Bearer "+key {
						t.Errorf("asked by %s, %v", r.URL, r.Header)
					}
					head := http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}, "Location": {"http://victim.example/"}}
					return &http.Response{StatusCode: tt.code, Request: r, Header: head, Body: &stream{tt.parts, tt.every, r.Context()}}, nil
				}))
				began := time.Now()
				err := c.AwaitWork(t.Context(), offer, 7, key)
				if lasted := time.Since(began); (err == nil) != tt.ok || lasted < tt.least || lasted > tt.most {
					t.Errorf("after %v: %v", lasted, err)
				}
				if asked != 1 {
					t.Errorf("asked %d times", asked)
				}
			})
		})
	}
}

// A flood is not read to its end. A canceled wait returns context.Canceled.
func TestAwaitWorkEnds(t *testing.T) {
	offer := protocol.WorkEvents{URL: "http://p.example/work_events", Heartbeat: time.Minute}
	read := 0
	c := client(trip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Request: r, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(flood(func(b []byte) (int, error) {
			n := copy(b, strings.Repeat("\n", len(b)))
			read += n
			return n, nil
		}))}, nil
	}))
	if err := c.AwaitWork(t.Context(), offer, 7, key); err == nil || read > 128<<10 {
		t.Errorf("%d bytes are read, then %v", read, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.AwaitWork(ctx, offer, 7, key); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

type flood func([]byte) (int, error)

func (f flood) Read(b []byte) (int, error) { return f(b) }
