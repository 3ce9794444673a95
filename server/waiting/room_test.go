package waiting_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/waiting"
)

// A world is a room whose hosts use connections in memory.
type world struct {
	t    *testing.T
	room *waiting.Room
	srv  *http.Server
	door chan net.Conn

	mu   sync.Mutex
	work waiting.Work
}

// play runs f with a room of the size, in a bubble.
func play(t *testing.T, most, perAddress int, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, door: make(chan net.Conn)}
		w.room = &waiting.Room{
			Log: slog.New(slog.DiscardHandler),
			Look: func(_ context.Context, _ time.Time, after int64, limit int) (waiting.Work, error) {
				w.mu.Lock()
				defer w.mu.Unlock()
				found := waiting.Work{Newest: w.work.Newest}
				found.Sendable = w.work.Sendable[:min(limit, len(w.work.Sendable))]
				for _, id := range w.work.Sendable {
					if id > after {
						found.Created = append(found.Created, id)
					}
				}
				return found, nil
			},
		}
		w.room.Set(most, perAddress)
		w.srv = &http.Server{ReadHeaderTimeout: time.Minute, Handler: w.room.Handler(func(_ context.Context, key protocol.Authenticator, host int64) (bool, error) {
			return string(key) == fmt.Sprint("key of ", host), nil
		})}
		go func() { _ = w.srv.Serve(listener{w.door}) }()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { w.room.Run(ctx); close(ended) }()
		synctest.Wait()
		f(t, w)
		cancel()
		<-ended
		close(w.door)
		_ = w.srv.Close()
	})
}

// add creates results.
func (w *world) add(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range n {
		w.work.Newest++
		w.work.Sendable = append(w.work.Sendable, w.work.Newest)
	}
}

func (w *world) sent(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.work.Sendable = w.work.Sendable[n:]
}

// listener gets its connections from tests.
type listener struct{ door chan net.Conn }

func (l listener) Accept() (net.Conn, error) {
	c, ok := <-l.door
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (l listener) Close() error   { return nil }
func (l listener) Addr() net.Addr { return &net.TCPAddr{} }

// A host waits.
type host struct {
	code   int
	text   string        // everything it received, once ended is closed
	ended  chan struct{} // the connection is over
	hangUp func()
}

func (h *host) isOver() bool {
	select {
	case <-h.ended:
		return true
	default:
		return false
	}
}

func (h *host) called() bool { return h.isOver() && strings.Contains(h.text, protocol.WorkEvent) }

// come makes a host wait. It was notified of work up to now, or as key and mark define.
func (w *world) come(id int, key string) *host {
	w.t.Helper()
	mark := w.room.Offer("", time.Now())
	if mark == nil {
		w.t.Fatal("nothing is offered")
	}
	ours, theirs := net.Pipe()
	w.door <- theirs
	h := &host{ended: make(chan struct{}), hangUp: func() { _ = ours.Close() }}
	go func() {
		defer close(h.ended)
		defer h.hangUp()
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, fmt.Sprintf("http://p.example/work_events?hostid=%d&mark=%s", id, mark.Mark), nil)
		if err != nil {
			panic(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		if req.Write(ours) != nil {
			return
		}
		resp, err := http.ReadResponse(bufio.NewReader(ours), req)
		if err != nil {
			return
		}
		h.code = resp.StatusCode
		b, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		h.text = string(b)
	}()
	synctest.Wait()
	return h
}

func (w *world) host(id int) *host { w.t.Helper(); return w.come(id, fmt.Sprint("key of ", id)) }

func calledOf(hosts []*host) (n int) {
	for _, h := range hosts {
		if h.called() {
			n++
		}
	}
	return n
}

// Of many hosts, as many are called as there is new work, those that wait longest first. While the
// work is not taken, others are called, each once.
func TestHostsAreCalledAsWorkComes(t *testing.T) {
	play(t, 100, 0, func(t *testing.T, w *world) {
		w.add(5) // which none of these can have
		time.Sleep(5 * time.Second)
		first := w.host(1)
		time.Sleep(2 * time.Second)
		first.hangUp()
		time.Sleep(30 * time.Second)
		var hosts []*host
		for i := range 20 {
			hosts = append(hosts, w.host(i+1))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(5 * time.Minute)
		if n := calledOf(hosts); n != 0 {
			t.Fatalf("%d hosts are called for old work", n)
		}
		w.add(3)
		time.Sleep(2 * time.Second)
		if n := calledOf(hosts[:3]); n != 3 || calledOf(hosts) != 3 {
			t.Errorf("for 3 results, %d hosts are called, of them %d of those that waited longest", calledOf(hosts), n)
		}
		w.sent(8) // all that there is
		time.Sleep(5 * time.Minute)
		if n := calledOf(hosts); n != 3 {
			t.Errorf("once the work is taken, %d hosts were called", n)
		}
		if w.room.Waits(1) || !w.room.Waits(20) {
			t.Error("it is not known who waits")
		}
		w.add(1) // not taken by any host
		time.Sleep(2 * time.Minute)
		if n := calledOf(hosts); n != 20 {
			t.Errorf("for a result that nobody takes, %d of the hosts were called", n-3)
		}
		h := w.host(1) // and has learnt that it is not for it
		time.Sleep(5 * time.Minute)
		if h.called() {
			t.Error("a host is called again for the same work")
		}
		h.hangUp()
	})
}

// Many hosts are not called at once.
func TestCallsAreSpread(t *testing.T) {
	play(t, 1000, 0, func(t *testing.T, w *world) {
		w.host(1).hangUp()
		time.Sleep(time.Minute)
		var hosts []*host
		for i := range 250 {
			hosts = append(hosts, w.host(i+1))
		}
		w.add(2000)
		time.Sleep(waiting.Every + time.Millisecond)
		if n := calledOf(hosts); n == 0 || n > 100 {
			t.Errorf("%d hosts are called at once", n)
		}
		time.Sleep(5 * waiting.Every)
		if n := calledOf(hosts); n != 250 {
			t.Errorf("%d of 250 hosts are called", n)
		}
	})
}

func TestWhoMayWait(t *testing.T) {
	play(t, 3, 2, func(t *testing.T, w *world) {
		if h := w.come(1, "key of 2"); h.code != http.StatusForbidden || w.room.Len() != 0 {
			t.Errorf("with another's key: HTTP %d", h.code)
		}
		a, b := w.host(1), w.host(2)
		if c := w.host(3); !c.isOver() && w.room.Len() > 2 {
			// net.Pipe has no addresses, and without one connections are not counted.
			c.hangUp()
		}
		again := w.host(1)
		if !a.isOver() || again.isOver() {
			t.Error("a host that comes again does not take its own place")
		}
		if d := w.host(4); d.code != http.StatusServiceUnavailable {
			t.Errorf("above the limit: HTTP %d", d.code)
		}
		w.room.Set(0, 0)
		if w.room.Offer("", time.Now()) != nil {
			t.Error("waiting is offered though it is switched off")
		}
		b.hangUp()
		again.hangUp()
	})
}

// A host that has gone is noticed. One that stays receives signs of life from the server.
func TestSignsOfLife(t *testing.T) {
	play(t, 10, 0, func(t *testing.T, w *world) {
		gone, stays := w.host(1), w.host(2)
		gone.hangUp()
		time.Sleep(10 * time.Minute)
		if n := w.room.Len(); n != 1 {
			t.Errorf("%d hosts wait", n)
		}
		time.Sleep(7 * time.Hour)
		if !stays.isOver() || stays.called() {
			t.Error("a host stays for ever")
		}
		if n := strings.Count(stays.text, protocol.WorkHeartbeat); n < 6*60 {
			t.Errorf("%d signs of life in six hours", n)
		}
	})
}

// Where connections are shared, as with HTTP/2, a host waits on its request.
func TestRequestsThatCannotBeTakenOver(t *testing.T) {
	play(t, 10, 0, func(t *testing.T, w *world) {
		pr, pw := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://p.example/work_events?hostid=1&mark=0", nil)
			if err != nil {
				panic(err)
			}
			r.Header.Set("Authorization", "Bearer key of 1")
			w.srv.Handler.ServeHTTP(shared{pw}, r)
			_ = pw.Close()
			close(ended)
		}()
		heard := make(chan string, 1)
		go func() { b, _ := io.ReadAll(pr); heard <- string(b) }()
		time.Sleep(10 * time.Second)
		w.add(1)
		time.Sleep(10 * time.Second)
		if got := <-heard; !strings.HasSuffix(got, protocol.WorkEvent) {
			t.Errorf("heard %q", got)
		}
		<-ended
		cancel()
	})
}

type shared struct{ w io.Writer }

func (s shared) Header() http.Header         { return make(http.Header) }
func (s shared) Write(b []byte) (int, error) { return s.w.Write(b) }
func (s shared) WriteHeader(int)             {}
func (s shared) FlushError() error           { return nil }
