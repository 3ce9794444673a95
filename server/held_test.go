package server_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"testing"
)

// A few strangers who announce requests and hardly send them do not keep the scheduler from others.
func TestAnnouncedRequestsTakeNoMemory(t *testing.T) {
	t.Parallel()
	b := proxied(t)
	key := b.user("ada@example.org")
	announce := func(network, n int) {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", b.addr)
		b.must(err)
		t.Cleanup(func() { _ = c.Close() })
		_, err = fmt.Fprintf(c, "POST /demo/cgi HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 2001:db8:0:%d::1\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", network, n)
		b.must(err)
		_, err = c.Read(make([]byte, 1)) // it is asked to continue, so the room is held
		b.must(err)
	}
	for network := range 4 { // of one household
		for range 61 {
			announce(network, 256<<10)
		}
	}
	for range 9 {
		announce(4, 4000)
	}
	code, body, err := b.try(http.MethodPost, "cgi", bytes.NewReader(request(key, "box")), "X-Forwarded-For", "192.0.2.1")
	if err != nil || code != http.StatusOK {
		t.Errorf("a volunteer is answered %d %s %v", code, body, err)
	}
}
