package limit_test

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"

	"github.com/starling-grid/starling/server/limit"
)

// greeter sends a letter on each connection that is accepted, and waits for its end.
func greeter(t *testing.T, most int, proxies limit.Proxies) (dial func() net.Conn) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tcp.Close() })
	l := &limit.Listener{Listener: tcp, Most: most, Proxies: proxies}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = c.Write([]byte("a"))
				_, _ = io.Copy(io.Discard, c)
				_ = c.Close()
				_ = c.Close() // counts once
			}()
		}
	}()
	return func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", tcp.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
}

// letIn reports whether a connection was greeted.
func letIn(t *testing.T, c net.Conn) bool {
	t.Helper()
	_, err := c.Read(make([]byte, 1))
	if err != nil && !errors.Is(err, io.EOF) {
		if _, reset := errors.AsType[*net.OpError](err); !reset {
			t.Fatal(err)
		}
	}
	return err == nil
}

func TestConnectionsOfAnAddress(t *testing.T) {
	dial := greeter(t, 2, nil)
	first, second := dial(), dial()
	if !letIn(t, first) || !letIn(t, second) {
		t.Fatal("two are not let in")
	}
	if letIn(t, dial()) {
		t.Error("a third is let in")
	}
	_ = first.Close()
	for !letIn(t, dial()) { // once the server has seen the end
	}
	if letIn(t, dial()) {
		t.Error("one that ended counted twice")
	}
}

func TestConnectionsOfProxies(t *testing.T) {
	dial := greeter(t, 1, limit.Proxies{netip.MustParsePrefix("127.0.0.0/8")})
	for range 5 {
		if !letIn(t, dial()) {
			t.Fatal("a proxy is bounded")
		}
	}
	dial = greeter(t, 0, nil)
	for range 5 {
		if !letIn(t, dial()) {
			t.Fatal("bounded by 0")
		}
	}
}
