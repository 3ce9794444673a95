//go:build !linux

package peercred

import "net"

// Known reports whether this system identifies peers.
const Known = false

// Of returns ok = false, because this system does not identify the peer of a connection.
func Of(net.Conn) (p Peer, ok bool) { return p, false }
