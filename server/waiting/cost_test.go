package waiting_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/waiting"
)

// A socket is a connection with the test on the other side. Its own cost is small.
type socket struct {
	mu   sync.Mutex
	in   io.Reader     // data from the host
	over chan struct{} // it is closed
	late chan struct{} // a read is to end
	said strings.Builder
}

func (s *socket) Read(b []byte) (int, error) {
	if n, err := s.in.Read(b); n > 0 || err == nil {
		return n, err
	}
	select {
	case <-s.over:
		return 0, io.EOF
	case <-s.late:
		return 0, os.ErrDeadlineExceeded
	}
}

func (s *socket) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.Write(b)
}

func (s *socket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.over:
	default:
		close(s.over)
	}
	return nil
}

func (s *socket) LocalAddr() net.Addr  { return &net.TCPAddr{} }
func (s *socket) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// SetReadDeadline ends a running read, which taking over a connection requires.
func (s *socket) SetReadDeadline(at time.Time) error {
	if !at.IsZero() && at.Before(time.Now()) {
		s.late <- struct{}{}
	}
	return nil
}
func (s *socket) SetDeadline(time.Time) error      { return nil }
func (s *socket) SetWriteDeadline(time.Time) error { return nil }

// Ten thousand hosts that wait cost less than 100 MB.
func TestTenThousandHosts(t *testing.T) {
	const hosts = 10_000
	room := &waiting.Room{
		Log: slog.New(slog.DiscardHandler),
		Look: func(context.Context, time.Time, int64, int) (waiting.Work, error) {
			return waiting.Work{}, nil
		},
	}
	room.Set(hosts, 0)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { room.Run(ctx); close(ended) }()
	door := make(chan net.Conn)
	admitted := make(chan struct{}, hosts)
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: room.Handler(func(context.Context, protocol.Authenticator, int64) (bool, error) {
		admitted <- struct{}{}
		return true, nil
	})}
	go func() { _ = srv.Serve(listener{door}) }()
	for room.Offer("", time.Now()) == nil { // until it runs
		runtime.Gosched()
	}
	before := inUse()
	for i := range hosts {
		door <- &socket{in: strings.NewReader(fmt.Sprintf("GET /work_events?hostid=%d&mark=0 HTTP/1.1\r\nHost: p.example\r\nUser-Agent: BOINC client (x86_64-pc-linux-gnu 8.2.0) (Starling 1.0)\r\nAuthorization: Bearer 00000000000000000000000000000001\r\nAccept: text/event-stream\r\n\r\n", i+1)), over: make(chan struct{}), late: make(chan struct{}, 9)}
		<-admitted
	}
	for room.Len() < hosts {
		runtime.Gosched()
	}
	took := inUse() - before
	t.Logf("%d hosts that wait take %.1f MB, and %d goroutines are left", hosts, float64(took)/1e6, runtime.NumGoroutine())
	if took > 100e6 {
		t.Errorf("%d hosts that wait take %.1f MB", hosts, float64(took)/1e6)
	}
	cancel()
	<-ended
	close(door)
	_ = srv.Close()
}

// inUse returns the bytes of the heap and the stacks that are in use.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
