package limit

import (
	"io"
	"net"
	"net/netip"
	"sync"
)

// A Listener limits the number of open connections per address, since a silent connection takes
// memory and a descriptor as long as it is tolerated. Connections above the limit are closed at
// once.
type Listener struct {
	net.Listener
	Most    int     // 0: any number
	Proxies Proxies // whose connections are of many, and not bounded

	mu   sync.Mutex
	open map[netip.Addr]int
}

// Set changes Most and Proxies for connections to come, while others are accepted.
func (l *Listener) Set(most int, proxies Proxies) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Most, l.Proxies = most, proxies
}

func (l *Listener) bounds() (most int, proxies Proxies) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Most, l.Proxies
}

// Accept waits for the next connection within the bound.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		most, proxies := l.bounds()
		if err != nil || most <= 0 {
			return c, err
		}
		a := parse(c.RemoteAddr().String())
		if !a.IsValid() || proxies.Contain(a) {
			return c, nil
		}
		if a = Network(a); l.add(a, most) {
			return &counted{Conn: c, ended: func() { l.remove(a) }}, nil
		}
		_ = c.Close()
	}
}

func (l *Listener) add(a netip.Addr, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[a] >= most {
		return false
	}
	if l.open == nil {
		l.open = make(map[netip.Addr]int)
	}
	l.open[a]++
	return true
}

func (l *Listener) remove(a netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[a]--; l.open[a] == 0 {
		delete(l.open, a)
	}
}

// counted is a connection that counts until it is closed.
type counted struct {
	net.Conn
	once  sync.Once
	ended func()
}

// Close closes the connection, and counts it no more.
func (c *counted) Close() error {
	defer c.once.Do(c.ended)
	return c.Conn.Close()
}

// ReadFrom sends the content of a reader. A file is sent by the kernel alone.
func (c *counted) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }
