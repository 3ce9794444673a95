package limit

import "net/http"

// A Route answers the requests of one path, and bounds their bodies.
type Route struct {
	Handle http.HandlerFunc
	Bound
}

// A Bound is the part of a request's body that is read.
type Bound struct {
	// Stranger is the maximum number of bytes that are read before it is known who asks: by a
	// key, a token, a password or a certificate, or never, where nobody has to show one.
	Stranger int64
	// Most is the maximum number of bytes that are read in all. Unbounded: what the sender
	// has shown says how many.
	Most int64
	// Kept is where the body is until the request is answered.
	Kept Place
}

// Unbounded is a Most that something else bounds.
const Unbounded = -1

// A Place is where a request's body is until the request is answered.
type Place string

// The places of bodies.
const (
	Nowhere Place = "nowhere" // there is no body, or it is thrown away
	Memory  Place = "memory, of each request alone"
	Shared  Place = "memory, within max_request_mb"
	Spooled Place = "disk, within max_spool_mb"
	Final   Place = "the file that is uploaded"
)

// Small is the bound of routes whose requests have no body, or a form.
var Small = Bound{Stranger: 64 << 10, Most: 64 << 10, Kept: Memory}

// Bounded is the route's handler, which gets no more of a body than the bound allows.
func (t Route) Bounded() http.Handler {
	if t.Most == Unbounded {
		return t.Handle
	}
	return http.MaxBytesHandler(t.Handle, t.Most)
}
