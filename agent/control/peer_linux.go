package control

import (
	"net"

	"golang.org/x/sys/unix"
)

// peersAreKnown means that the system reports the user at the other end of a socket.
const peersAreKnown = true

func peerOf(c net.Conn) (peer, bool) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return peer{}, false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return peer{}, false
	}
	var cred *unix.Ucred
	if e := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); e != nil || err != nil {
		return peer{}, false
	}
	return peer{int(cred.Uid), int(cred.Gid)}, true
}
