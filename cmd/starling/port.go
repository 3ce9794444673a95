package main

import (
	"context"
	"net"
	"strconv"

	"golang.org/x/net/netutil"
)

// maxPeers is the maximum number of connections to one port of the agent at a time. Every program on
// this computer can connect, and each connection takes a descriptor that the agent needs for its
// files.
const maxPeers = 64

// openPort listens on a port of the agent. Connections above maxPeers wait until others end.
func openPort(ctx context.Context, host string, port int) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	return netutil.LimitListener(l, maxPeers), nil
}
