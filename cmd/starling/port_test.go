package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testwait"
)

// Programs on this computer cannot take all of the agent's descriptors with connections to its
// ports. When a connection ends, another one is served.
func TestConnectionsToAPortAreLimited(t *testing.T) {
	l, err := openPort(t.Context(), "127.0.0.1", 0)
	must(t, err)
	accepted := make(chan net.Conn, 2*maxPeers)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	for range maxPeers + 10 {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
		must(t, err)
		defer c.Close()
	}
	testwait.Until(t, "connections", func() bool { return len(accepted) >= maxPeers })
	_ = (<-accepted).Close()
	_ = (<-accepted).Close()
	testwait.Until(t, "two more", func() bool { return len(accepted) >= maxPeers })
	_ = l.Close()
	left := 0
	for c := range accepted {
		_ = c.Close()
		left++
	}
	if left != maxPeers {
		t.Errorf("%d connections are served at a time, want %d", left, maxPeers)
	}
}

// All ports of the agent are opened by openPort.
func TestPortsAreOpenedInOnePlace(t *testing.T) {
	files, err := filepath.Glob("*.go")
	must(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		must(t, err)
		if name != "port.go" && !strings.HasSuffix(name, "_test.go") && strings.Contains(string(text), ".Listen(") {
			t.Errorf("%s listens itself; use openPort", name)
		}
	}
}
