package db

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// Connections of a URL end when their server has vanished.
func TestVanishedServers(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := parseURL("postgres://u@" + l.Addr().String() + "/d")
	if err != nil || c.ConnectTimeout != connectTime {
		t.Fatalf("got %v, %v", c, err)
	}
	conn, err := c.DialFunc(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for option, want := range map[int]int{unix.TCP_USER_TIMEOUT: 30_000, unix.TCP_KEEPIDLE: 15, unix.TCP_KEEPINTVL: 5, unix.TCP_KEEPCNT: 3} {
		if broken := raw.Control(func(fd uintptr) {
			if got, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, option); err != nil || got != want {
				t.Errorf("option %d: %d, %v; want %d", option, got, err, want)
			}
		}); broken != nil {
			t.Error(broken)
		}
	}
}
