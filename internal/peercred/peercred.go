// Package peercred returns the user at the other end of a local socket, as the system reports it.
package peercred

// A Peer is a process at the other end of a socket, as of when it connected.
type Peer struct{ UID, GID int }
