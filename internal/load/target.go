package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"syscall"

	"github.com/starling-grid/starling/protocol"
)

// ErrForeign means that an address does not belong to this computer.
var ErrForeign = errors.New("not an address of this computer alone; a load generator aimed at a stranger's server is an attack on it")

// reachable checks whether the URL is valid and may be used. The address is checked again whenever
// a connection is made, because a name can resolve to any address.
func (c *Config) reachable() error {
	canonical, err := protocol.CanonicalMasterURL(c.URL)
	if err != nil {
		return err
	}
	u, err := url.Parse(canonical)
	if err != nil {
		return fmt.Errorf("address of the project: %w", err)
	}
	if c.Mine || loopback(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("%s: %w", c.URL, ErrForeign)
}

// loopback reports whether a host's name or address denotes this computer.
func loopback(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().IsLoopback()
	}
	return host == "localhost"
}

// dial connects, but only to this computer unless the project belongs to the caller. So names,
// redirects and a project's pages cannot lead elsewhere.
func (c *Config) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: c.Timeout, Control: func(_, address string, _ syscall.RawConn) error {
		host, _, err := net.SplitHostPort(address)
		if err == nil && !c.Mine && !loopback(host) {
			err = fmt.Errorf("%s: %w", address, ErrForeign)
		}
		return err
	}}
	return d.DialContext(ctx, network, address)
}
