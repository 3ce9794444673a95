package limit

import (
	"cmp"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Headers in which a proxy may name the sender of a request.
const (
	XForwardedFor = "X-Forwarded-For"
	Forwarded     = "Forwarded" // RFC 7239
)

// Forwarding defines the proxies whose headers about a request's sender are trusted. The zero
// Forwarding trusts no proxies.
type Forwarding struct {
	Proxies Proxies
	// Header is the header that the proxies write, XForwardedFor (also "") or Forwarded. The other
	// one is not read: a proxy that supports only one forwards the other as a client sent it.
	Header string
}

// Client returns the address that a request was sent from: the last one that is not a proxy's,
// according to the proxies. It is the zero Addr if there is no address, as when a test makes the
// request.
func (f Forwarding) Client(r *http.Request) netip.Addr {
	a := parse(r.RemoteAddr)
	if !f.Proxies.Contain(a) {
		return a
	}
	hops := f.hops(r.Header)
	for i := len(hops) - 1; i >= 0 && f.Proxies.Contain(a); i-- {
		hop := parse(hops[i])
		if !hop.IsValid() {
			break
		}
		a = hop
	}
	return a
}

// hops returns whom the header names, the one nearest to the server last.
func (f Forwarding) hops(h http.Header) []string {
	if f.Header != Forwarded {
		hops := strings.Split(strings.Join(h.Values(XForwardedFor), ","), ",")
		for i := range hops {
			hops[i] = strings.TrimSpace(hops[i])
		}
		return hops
	}
	var hops []string
	for _, element := range splitQuoted(strings.Join(h.Values(Forwarded), ","), ',') {
		hops = append(hops, forOf(element))
	}
	return hops
}

// forOf returns the client address in an element of Forwarded. It returns "" if the element
// contains no address, or two, as when a part of it was written by a client.
func forOf(element string) (hop string) {
	n := 0
	for _, pair := range splitQuoted(element, ';') {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.EqualFold(name, "for") {
			hop = strings.Trim(value, `"`)
			n++
		}
	}
	if n != 1 {
		return ""
	}
	return hop
}

// splitQuoted splits at a separator outside of quotes. It reads from the end, where the
// words of the nearest proxy are: a quote that a client opened and did not close hides
// nothing of these.
func splitQuoted(s string, sep byte) (parts []string) {
	quoted, end := false, len(s)
	for i := len(s) - 1; i >= 0; i-- {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == sep && !quoted:
			parts = append(parts, s[i+1:end])
			end = i
		}
	}
	parts = append(parts, s[:end])
	slices.Reverse(parts)
	return parts
}

// Untrusted returns a header of the request that would name its sender but is not trusted. It returns
// "" if there is no such header, or if a proxy names the sender in the header that is read.
func (f Forwarding) Untrusted(r *http.Request) string {
	if f.Proxies.Contain(parse(r.RemoteAddr)) && r.Header.Get(cmp.Or(f.Header, XForwardedFor)) != "" {
		return ""
	}
	for _, h := range []string{XForwardedFor, Forwarded} {
		if r.Header.Get(h) != "" {
			return h
		}
	}
	return ""
}
