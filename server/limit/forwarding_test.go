package limit_test

import (
	"net/http"
	"testing"

	"github.com/starling-grid/starling/server/limit"
)

// Of the two headers only the one that the proxies write counts, and in it only the parts written
// by them.
func TestForwarded(t *testing.T) {
	proxies, err := limit.ParseProxies([]string{"127.0.0.1", "10.0.0.0/8", "fd00::/8"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, peer string
		said       []string
		want       string
	}{
		{"straight, and it says otherwise", "192.0.2.1:99", []string{"for=198.51.100.1"}, "192.0.2.1"},
		{"by a proxy", "127.0.0.1:99", []string{"for=192.0.2.1;proto=https;by=127.0.0.1"}, "192.0.2.1"},
		{"in other letters, not first", "127.0.0.1:99", []string{"proto=https; For=192.0.2.1"}, "192.0.2.1"},
		{"version 6 with a port", "[fd00::1]:99", []string{`for="[2001:db8::1]:4711"`}, "2001:db8::1"},
		{"by two proxies", "127.0.0.1:99", []string{"for=192.0.2.1, for=10.1.2.3"}, "192.0.2.1"},
		{"by two that write lines of their own", "127.0.0.1:99", []string{"for=192.0.2.1", "for=10.1.2.3"}, "192.0.2.1"},
		{"by a proxy, and it says otherwise", "127.0.0.1:99", []string{"for=127.0.0.1, for=192.0.2.1"}, "192.0.2.1"},
		{"a quote that is not closed", "127.0.0.1:99", []string{`for="127.0.0.1, for=192.0.2.1`}, "192.0.2.1"},
		{"a quote that is not closed, and one of the proxy", "127.0.0.1:99", []string{`for="127.0.0.1, for="[2001:db8::1]"`}, "2001:db8::1"},
		{"twice in one", "127.0.0.1:99", []string{"for=192.0.2.1;host=x;for=10.0.0.1"}, "127.0.0.1"},
		{"a hidden one", "127.0.0.1:99", []string{"for=_hidden"}, "127.0.0.1"},
		{"nothing", "127.0.0.1:99", nil, "127.0.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{
				"Forwarded": tt.said, "X-Forwarded-For": {"203.0.113.9"}, // the client's own
			}}
			if got := (limit.Forwarding{Proxies: proxies, Header: limit.Forwarded}).Client(r).String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			r.Header = http.Header{"Forwarded": {"for=203.0.113.9"}}
			if got := (limit.Forwarding{Proxies: proxies, Header: limit.XForwardedFor}).Client(r).String(); got == "203.0.113.9" {
				t.Error("a header that no proxy writes is believed")
			}
		})
	}
}

// A proxy's header counts also if the sender is on the proxy's own computer.
func TestUntrusted(t *testing.T) {
	proxies, err := limit.ParseProxies([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, peer, reads, header, value, want string }{
		{"nothing is said", "192.0.2.1:99", "", "Accept", "text/html", ""},
		{"by a stranger", "192.0.2.1:99", "", limit.XForwardedFor, "198.51.100.1", limit.XForwardedFor},
		{"by the proxy", "127.0.0.1:99", "", limit.XForwardedFor, "198.51.100.1", ""},
		{"by the proxy, of its own computer", "127.0.0.1:99", limit.XForwardedFor, limit.XForwardedFor, "127.0.0.1", ""},
		{"by the proxy, in the other header", "127.0.0.1:99", limit.Forwarded, limit.XForwardedFor, "198.51.100.1", limit.XForwardedFor},
	} {
		r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{tt.header: {tt.value}}}
		if got := (limit.Forwarding{Proxies: proxies, Header: tt.reads}).Untrusted(r); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
