package limit

import "net/http"

// A Route answers the requests of one path, and bounds their bodies.
type Route struct {
	Handle http.HandlerFunc
	Bound
}

// A Bound is the part of a request's body that is read.
type Bound struct {
	// Stranger is the maximum number of bytes that are read before the sender is identified by a
	// key, a token, a password or a certificate. Where the sender need not be identified, it is a
	// limit for the whole body.
	Stranger int64
	// Most is the maximum number of bytes that are read in all. With Unbounded the limit depends on
	// the identified sender.
	Most int64
	// Kept is the place of the body until the request is answered.
	Kept Place
}

// Unbounded is a Most that something else bounds.
const Unbounded = -1

// A Place is the place of a request's body until the request is answered.
type Place string

// The places of bodies.
const (
	Nowhere Place = "nowhere" // the request lacks a body, or it is discarded
	Memory  Place = "memory, of each request alone"
	Shared  Place = "memory, 64 MB for all"
	Spooled Place = "disk, within max_spool_mb"
	Final   Place = "the file that is uploaded"
)

// Small is the bound of routes whose requests have a form or no body.
var Small = Bound{Stranger: 64 << 10, Most: 64 << 10, Kept: Memory}

// Bounded returns the route's handler, which gets no more of a body than the bound allows.
func (t Route) Bounded() http.Handler {
	if t.Most == Unbounded {
		return t.Handle
	}
	return http.MaxBytesHandler(t.Handle, t.Most)
}
