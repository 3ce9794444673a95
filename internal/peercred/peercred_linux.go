package peercred

import (
	"net"

	"golang.org/x/sys/unix"
)

// Known reports whether this system identifies peers.
const Known = true

// Of returns the peer of a connection. ok is false if the system does not identify it.
func Of(c net.Conn) (p Peer, ok bool) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return p, false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return p, false
	}
	var cred *unix.Ucred
	if e := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); e != nil || err != nil {
		return p, false
	}
	return Peer{int(cred.Uid), int(cred.Gid)}, true
}
