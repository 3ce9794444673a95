package limit_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/server/limit"
)

// Only headers from proxies count for the origin of a request.
func TestClient(t *testing.T) {
	proxies, err := limit.ParseProxies([]string{"127.0.0.1", "10.0.0.0/8", "fd00::/8"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, peer string
		said       []string
		want       string
	}{
		{"straight", "192.0.2.1:99", nil, "192.0.2.1"},
		{"straight, and it says otherwise", "192.0.2.1:99", []string{"198.51.100.1"}, "192.0.2.1"},
		{"by a proxy", "127.0.0.1:99", []string{"192.0.2.1"}, "192.0.2.1"},
		{"by a proxy that adds a port", "127.0.0.1:99", []string{"192.0.2.1:4711"}, "192.0.2.1"},
		{"by two proxies", "127.0.0.1:99", []string{"192.0.2.1, 10.1.2.3"}, "192.0.2.1"},
		{"by a proxy, and it says otherwise", "127.0.0.1:99", []string{"198.51.100.1", "192.0.2.1"}, "192.0.2.1"},
		{"a proxy for itself", "127.0.0.1:99", nil, "127.0.0.1"},
		{"nonsense by a proxy", "127.0.0.1:99", []string{"unknown"}, "127.0.0.1"},
		{"version 6", "[fd00::1]:99", []string{"2001:db8::1"}, "2001:db8::1"},
		{"version 4 in 6", "[::ffff:127.0.0.1]:99", []string{"::ffff:192.0.2.1"}, "192.0.2.1"},
		{"a test", "", nil, "invalid IP"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{"X-Forwarded-For": tt.said}}
			if got := (limit.Forwarding{Proxies: proxies}).Client(r).String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if _, err := limit.ParseProxies([]string{"localhost"}); err == nil {
		t.Error("a name is taken for an address")
	}
	a, b := limit.Network(netip.MustParseAddr("2001:db8::1")), limit.Network(netip.MustParseAddr("2001:db8::ffff:1"))
	if a != b {
		t.Errorf("a household has two: %v, %v", a, b)
	}
}

// Requests wait for room, large ones leave some to others, and waiting has an end.
func TestBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := limit.Bodies{Total: 8 << 20, PerAddress: 3 << 20}
		address := func(n byte) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, n}) }
		hold := func(from byte, n int64) (func(), error) { return b.Hold(t.Context(), address(from), n) }
		first, err := hold(1, 3<<20)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hold(1, 1); !errors.Is(err, limit.ErrBusy) {
			t.Errorf("more than an address may have: %v", err)
		}
		if _, err := hold(2, 2<<20); !errors.Is(err, limit.ErrBusy) {
			t.Errorf("more than large ones may have: %v", err)
		}
		ordinary, err := hold(2, 100<<10)
		if err != nil {
			t.Errorf("an ordinary one waits for large ones: %v", err)
		}
		ordinary()
		gone, cancel := context.WithCancelCause(t.Context())
		cancel(io.ErrClosedPipe)
		if _, err := b.Hold(gone, address(3), 2<<20); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("who has left gets %v", err)
		}
		got := make(chan error, 1)
		go func() {
			release, err := hold(2, 4<<20)
			if err == nil {
				release()
			}
			got <- err
		}()
		synctest.Wait()
		first()
		first() // twice is once
		if err := <-got; err != nil {
			t.Errorf("there is room: %v", err)
		}
		if _, err := hold(9, 100<<20); err != nil {
			t.Errorf("alone: %v", err)
		}
	})
}

func TestRequests(t *testing.T) {
	q := limit.Requests{PerAddress: 2}
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	end, _ := q.Begin(a)
	_, _ = q.Begin(a)
	if _, ok := q.Begin(a); ok {
		t.Error("three at a time")
	}
	if _, ok := q.Begin(b); !ok {
		t.Error("one pays for another")
	}
	end()
	if _, ok := q.Begin(a); !ok {
		t.Error("one has ended")
	}
}

// pipes is a listener without a network, for connections in virtual time.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// A transfer may take hours while it moves, and ends when it does not.
func TestPace(t *testing.T) {
	const size = 2_000_000
	for _, tt := range []struct {
		name       string
		step       int // bytes a second
		down       bool
		wants      bool
		took, most time.Duration
	}{
		{"a slow upload", 1000, false, true, size / 1000 * time.Second, 0},
		{"a slow download", 2000, true, true, size / 2000 * time.Second, 0},
		{"an upload that drips", 10, false, false, 0, time.Minute},
		{"a download that drips", 10, true, false, 0, 3 * time.Minute},
		{"an upload that stands still", 0, false, false, 0, time.Minute},
		{"a download that stands still", 0, true, false, 0, 3 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer time.Sleep(time.Minute) // in which all that is under way ends
				pace := limit.Pace{Window: 30 * time.Second, Bytes: 500 * 30}
				ended := make(chan error, 1)
				srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w, r = pace.Apply(w, r)
					_, err := io.Copy(io.Discard, r.Body)
					if err == nil {
						time.Sleep(time.Hour) // processing it may take long
						err = r.Context().Err()
					}
					if tt.down && err == nil {
						_, err = w.Write(make([]byte, size))
					}
					ended <- err
				})}
				l := make(pipes)
				go func() { _ = srv.Serve(l) }()
				defer srv.Close()
				defer close(l)
				stop := make(chan struct{})
				defer close(stop)
				ours, theirs := net.Pipe()
				defer ours.Close()
				l <- theirs
				begin := time.Now()
				go func() {
					head, length := "POST / HTTP/1.1\r\nHost: x\r\n", size
					if tt.down {
						length = 0
					}
					_, _ = io.WriteString(ours, head+"Content-Length: "+strconv.Itoa(length)+"\r\n\r\n")
					buf := make([]byte, max(tt.step, 1))
					for range size {
						if tt.step > 0 {
							var err error
							if tt.down {
								_, err = io.ReadFull(ours, buf)
							} else {
								_, err = ours.Write(buf)
							}
							if err != nil {
								return
							}
						}
						select {
						case <-time.After(time.Second):
						case <-stop:
							return
						}
					}
				}()
				if !tt.down {
					go func() { _, _ = io.Copy(io.Discard, ours) }()
				}
				err := <-ended
				took := time.Since(begin) - time.Hour
				if tt.wants && (err != nil || took < tt.took-time.Minute) {
					t.Errorf("%v after %v", err, took)
				}
				if !tt.wants && (err == nil || took > tt.most) {
					t.Errorf("%v after %v", err, took)
				}
			})
		})
	}
}
