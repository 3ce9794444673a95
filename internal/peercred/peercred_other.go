//go:build !linux

package peercred

import "net"

// Known reports whether this system identifies peers.
const Known = false

// Of returns the peer of a connection; ok is false if the system does not identify it.
func Of(net.Conn) (p Peer, ok bool) { return p, false }
