// Package limit keeps strangers from taking more than their share of a server: of its memory, its
// connections and its time. It works with addresses and bytes. Accounts and computers are up to its
// callers.
//
// All counts are kept in memory, for this process, and forgotten when they no longer matter.
package limit

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the addresses of proxies in front of the server, which add the client's address to
// their requests.
type Proxies []netip.Prefix

// ParseProxies reads addresses (192.0.2.1) and networks (192.0.2.0/24).
func ParseProxies(list []string) (Proxies, error) {
	var out Proxies
	for _, s := range list {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			a, err := netip.ParseAddr(s)
			if err != nil {
				return nil, fmt.Errorf("%q is neither an address such as 192.0.2.1 nor a network such as 192.0.2.0/24", s)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// Contain reports whether a is one of them.
func (p Proxies) Contain(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	for _, prefix := range p {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// parse reads an address with a port or without.
func parse(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone("")
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}

// Network returns the part of an address that counts as one address: the first half of an IPv6
// address, as a household has all addresses with the same first half.
func Network(a netip.Addr) netip.Addr {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}

type key struct{}

// WithClient returns a request with the address that it was sent from.
func WithClient(r *http.Request, a netip.Addr) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), key{}, a))
}

// ClientOf returns the address that a request carries, or else its peer's.
func ClientOf(r *http.Request) netip.Addr {
	if a, ok := r.Context().Value(key{}).(netip.Addr); ok {
		return a
	}
	return parse(r.RemoteAddr)
}

// Busy answers that the server is too busy just now. Clients retry later.
func Busy(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", "30")
	http.Error(w, why+": try again in half a minute", http.StatusServiceUnavailable)
}
