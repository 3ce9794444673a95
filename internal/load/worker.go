package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/starling-grid/starling/protocol"
)

// maxReply is the maximum number of bytes that are read of a reply.
const maxReply = 64 << 20

// A worker sends the requests of hosts, one at a time. It has a separate connection.
type worker struct {
	c         *Config
	http      *http.Client
	scheduler string
	counts    Counts // in the current phase
}

func newWorker(c *Config) *worker {
	return &worker{c: c, http: &http.Client{
		Timeout: c.Timeout,
		// No proxy: it could connect to forbidden addresses.
		Transport: &http.Transport{DialContext: c.dial, MaxIdleConnsPerHost: 1, DisableKeepAlives: !c.KeepAlive},
	}}
}

// find returns the schedulers in the project's home page.
func (w *worker) find(ctx context.Context) ([]string, error) {
	page, err := w.do(ctx, http.MethodGet, w.c.URL, nil)
	if err != nil {
		return nil, err
	}
	urls, err := protocol.SchedulerURLs(page)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.c.URL, err)
	}
	return urls, nil
}

// turn makes a host contact its project once, and uploads the outputs that this brings. Errors are
// already counted.
func (w *worker) turn(ctx context.Context, h *Host, work bool) (Turn, error) {
	for _, u := range h.unsent() { // outputs that could not be uploaded before
		if err := w.send(ctx, h, u); err != nil {
			return Turn{}, err
		}
	}
	body := h.Request(time.Now(), work).Encode()
	begin := time.Now()
	answer, err := w.do(ctx, http.MethodPost, w.scheduler, body)
	took := time.Since(begin)
	if err != nil {
		w.failed(ctx, err)
		return Turn{}, err
	}
	reply, err := protocol.ParseSchedulerReply(answer)
	if err != nil {
		w.failed(ctx, errNoReply)
		return Turn{}, err
	}
	w.counts.Requests++
	w.counts.Bytes += int64(len(body))
	w.counts.Latency.Add(took)
	t := h.Answer(reply)
	w.counts.add(t)
	for _, u := range t.Outputs {
		if err := w.send(ctx, h, u); err != nil {
			return t, err
		}
	}
	return t, nil
}

var errNoReply = errors.New("the answer is no reply of a scheduler")

func (w *worker) send(ctx context.Context, h *Host, u Upload) error {
	begin := time.Now()
	answer, err := w.do(ctx, http.MethodPost, u.URL, append(u.Head, u.Data...))
	took := time.Since(begin)
	if err != nil {
		w.failed(ctx, err)
		return err
	}
	reply, err := protocol.ParseUploadReply(answer)
	if err == nil && reply.Status != protocol.UploadOK {
		err = fmt.Errorf("upload refused: %.80s", reply.Message)
	}
	if err != nil {
		w.failed(ctx, err)
	} else {
		w.counts.Uploaded++
		w.counts.Uploads.Add(took)
	}
	h.Sent(u, reply)
	if reply.Status == protocol.UploadPermanent {
		return nil // the upload is given up, and the host continues
	}
	return err
}

// do makes one request and returns the reply's body.
func (w *worker) do(ctx context.Context, method, to string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	v := protocol.CompatVersion
	req.Header.Set("User-Agent", fmt.Sprintf("BOINC client (x86_64-pc-linux-gnu %d.%d.%d)", v.Major, v.Minor, v.Release))
	if body != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := w.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var buf bytes.Buffer
	if n := res.ContentLength; n > 0 && n <= maxReply {
		buf.Grow(int(n) + bytes.MinRead)
	}
	if _, err := buf.ReadFrom(io.LimitReader(res.Body, maxReply)); err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, &statusError{to, res.StatusCode}
	}
	return buf.Bytes(), nil
}

// A statusError is a reply whose status is not 200.
type statusError struct {
	url  string
	code int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s: HTTP %d %s", e.url, e.code, http.StatusText(e.code))
}

// failed counts an error, unless everything is being stopped.
func (w *worker) failed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		count(&w.counts.Errors, label(err), 1)
	}
}

// label returns the label under which errors of the same cause are counted.
func label(err error) string {
	if s, ok := errors.AsType[*statusError](err); ok {
		return fmt.Sprintf("HTTP %d", s.code)
	}
	switch n, ok := errors.AsType[net.Error](err); {
	case errors.Is(err, ErrForeign):
		return "address refused: not this computer's"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection lost"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "no port left for a new connection"
	case ok && n.Timeout():
		return "time-out"
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the address
	}
	return strings.ToValidUTF8(err.Error()[:min(len(err.Error()), 80)], "")
}
