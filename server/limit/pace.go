package limit

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// A Pace is how fast the other side of a connection has to be, at least. A transfer
// may take as long as it likes while it keeps the pace: nothing is bounded in time
// that moves.
type Pace struct {
	Window time.Duration // in each of which …
	Bytes  int64         // … so many must move; 0 is one
}

// chunk is how much is written at a time: what the kernel takes says little about the
// other side, so a deadline must cover much more than a byte and less than a file.
const chunk = 32 << 10

// Apply returns a request and a writer for its answer that end when the other side
// falls behind. The connection's deadlines are those of its present request.
func (p Pace) Apply(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, *http.Request) {
	c := http.NewResponseController(w)
	_ = c.SetWriteDeadline(time.Now().Add(p.Window)) // not supported where a test makes the request
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		// None of its own: the connection is watched for its end while the answer goes out.
		_ = c.SetReadDeadline(time.Time{})
		return &pacedWriter{w, c, p}, r
	}
	// A body that nobody reads is read to its end by the server, for as long.
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
