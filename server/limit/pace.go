package limit

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// A Pace is the minimum speed of the other side of a connection. A transfer may take any time while
// it keeps the pace: there is no time limit for a transfer that makes progress.
type Pace struct {
	Window time.Duration // in each window …
	Bytes  int64         // … at least this many bytes must move (0: one)
}

// chunk is the number of bytes written at a time. Data that the kernel has accepted may not have
// reached the other side, so a deadline must cover much more than a byte and less than a file.
const chunk = 32 << 10

// Apply returns a request and a writer for its answer that fail when the other side falls behind.
// The deadlines on the connection are the ones for its current request.
func (p Pace) Apply(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, *http.Request) {
	c := http.NewResponseController(w)
	_ = c.SetWriteDeadline(time.Now().Add(p.Window)) // not supported where a test makes the request
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		// No read deadline: the server watches the connection for its end while the answer is sent.
		_ = c.SetReadDeadline(time.Time{})
		return &pacedWriter{w, c, p}, r
	}
	// If the handler does not read the body, the server reads it to its end, for up to this time.
	_ = c.SetReadDeadline(time.Now().Add(p.Window))
	paced := *r
	paced.Body = &pacedBody{ReadCloser: r.Body, control: c, pace: p}
	return &pacedWriter{w, c, p}, &paced
}

type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	pace    Pace
	moved   int64 // since the deadline was set
}

func (b *pacedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.moved += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		// It would end the request's context while that is worked on.
		_ = b.control.SetReadDeadline(time.Time{})
	case b.moved > 0 && b.moved >= b.pace.Bytes:
		b.moved = 0
		_ = b.control.SetReadDeadline(time.Now().Add(b.pace.Window))
	}
	return n, err
}

type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	pace    Pace
}

func (w *pacedWriter) Write(b []byte) (n int, err error) {
	window := w.pace.Window
	if w.pace.Bytes > 0 { // as long as a chunk may take
		window = max(window, time.Duration(float64(window)*float64(chunk)/float64(w.pace.Bytes)))
	}
	for err == nil && n < len(b) {
		_ = w.control.SetWriteDeadline(time.Now().Add(window))
		var k int
		k, err = w.ResponseWriter.Write(b[n:min(n+chunk, len(b))])
		n += k
	}
	return n, err
}

// Unwrap is for http.ResponseController.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
