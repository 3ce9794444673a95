// Package schedulerop talks to projects' web servers and schedulers: it fetches the master page and
// holds scheduler RPC sessions.
//
// It does not interpret requests or replies. The agent does, and package contact decides how a
// failure affects the next contact. It keeps no state between calls.
package schedulerop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/protocol"
)

// Bounds on the size of data from a project or an account manager, and on the time to read it.
const (
	maxPage  = 4 << 20
	maxReply = 64 << 20
	timeout  = 5 * time.Minute  // of one exchange, its short retries included
	session  = 10 * time.Minute // of all schedulers of a project in turn

	// An answer that has started must continue with so many bytes in each such time: a
	// server that drips is one that does not answer.
	leastBytes = 1 << 10
	leastTime  = 30 * time.Second
)

var errDrips = fmt.Errorf("the reply is too slow: less than %d bytes in %v", leastBytes, leastTime)

// A Client makes RPCs. Its methods may be called concurrently.
type Client struct {
	// HTTP must not have a Logger, which would write down URLs with password hashes. It must have
	// PassthroughErrorHandler, since others put URLs into errors.
	HTTP      *retryablehttp.Client
	UserAgent string
}

// An Error is an exchange with a project that gave nothing usable.
type Error struct {
	Op  string // "master page", "scheduler", "account", "account manager"
	URL string
	Err error
}

func (e *Error) Error() string { return fmt.Sprintf("%s %s: %v", e.Op, e.URL, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// MasterPage fetches a project's home page and returns its scheduler URLs.
func (c *Client) MasterPage(ctx context.Context, masterURL string) ([]string, error) {
	page, err := c.get(ctx, masterURL, maxPage)
	if err == nil {
		var urls []string
		if urls, err = protocol.SchedulerURLs(page); err == nil {
			return urls, nil
		}
	}
	return nil, &Error{"master page", masterURL, err}
}

// Session sends a request to the scheduler URLs, each in turn starting with number first, until one
// answers. The error joins the errors of all.
func (c *Client) Session(ctx context.Context, urls []string, first int, req *protocol.SchedulerRequest) (*protocol.SchedulerReply, error) {
	if len(urls) == 0 {
		return nil, errors.New("no scheduler URL is known")
	}
	ctx, cancel := context.WithTimeout(ctx, session)
	defer cancel()
	body := req.Encode()
	var errs []error
	for i := range urls {
		u := urls[(first+i)%len(urls)]
		reply, err := c.rpc(ctx, u, body)
		if err == nil {
			return reply, nil
		}
		errs = append(errs, &Error{"scheduler", u, err})
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(errs...)
}

func (c *Client) rpc(ctx context.Context, u string, body []byte) (*protocol.SchedulerReply, error) {
	b, date, err := c.post(ctx, u, body)
	if err != nil {
		return nil, err
	}
	reply, err := protocol.ParseSchedulerReply(b)
	if err != nil {
		return nil, unusable(err, b)
	}
	reply.Date = date
	return reply, nil
}

func (c *Client) post(ctx context.Context, u string, body []byte) (answer []byte, date time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := retryablehttp.NewRequestWithContext(httpclient.WithSecret(ctx), http.MethodPost, u, body)
	if err != nil {
		return nil, date, plain(err)
	}
	req.Header.Set("Content-Type", "text/xml")
	return c.do(req, maxReply)
}

func (c *Client) get(ctx context.Context, u string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, plain(err)
	}
	b, _, err := c.do(req, limit)
	return b, err
}

// do returns the answer to a request, and the server's time when it answered, or the zero time if
// the server did not name it.
func (c *Client) do(req *retryablehttp.Request, limit int64) (answer []byte, date time.Time, err error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(nil)
	req = req.WithContext(ctx)
	req.Header.Set("User-Agent", c.UserAgent)
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, date, plain(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		at := req.URL
		if resp.Request != nil {
			at = resp.Request.URL // after redirects
		}
		return nil, date, &reached{&StatusError{resp.StatusCode}, at.Host}
	}
	b, err := io.ReadAll(steady(io.LimitReader(resp.Body, limit+1), cancel))
	switch {
	case errors.Is(context.Cause(ctx), errDrips):
		return nil, date, errDrips
	case err != nil:
		return nil, date, fmt.Errorf("%w: %w", errCut, err)
	case int64(len(b)) > limit:
		return nil, date, fmt.Errorf("%w than %d bytes", errLong, limit)
	}
	date, _ = http.ParseTime(resp.Header.Get("Date"))
	return b, date, nil
}

// steady reads r, and ends the exchange by cancel when it comes too slowly.
func steady(r io.Reader, cancel context.CancelCauseFunc) io.Reader {
	return &steadyReader{r: r, timer: time.AfterFunc(leastTime, func() { cancel(errDrips) })}
}

type steadyReader struct {
	r     io.Reader
	timer *time.Timer
	n     int // bytes since the timer was set
}

func (s *steadyReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if s.n += n; s.n >= leastBytes {
		s.n = 0
		s.timer.Reset(leastTime)
	}
	if err != nil {
		s.timer.Stop()
	}
	return n, err
}

// plain removes the URL from the http package's errors: it is already in the text before, and may
// contain a password's hash. The host stays, which redirects may have changed.
func plain(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return &reached{ue.Err, hostOf(ue.URL)}
	}
	return err
}

// From returns err as the error of a request that a host answered, for Diagnose.
func From(host string, err error) error { return &reached{err, host} }

// A reached error is the error of a request to a host, which redirects may have chosen.
type reached struct {
	error
	host string
}

func (r *reached) Unwrap() error { return r.error }

var (
	errCut  = errors.New("connection closed in the middle of the reply")
	errLong = errors.New("reply longer")
)

// unusable returns the error about an answer that was not understood, with the kind of content it
// appears to have.
func unusable(err error, b []byte) error {
	switch {
	case len(bytes.TrimSpace(b)) == 0:
		return fmt.Errorf("%w: %w (the reply is empty)", httpclient.ErrUnusable, err)
	case httpclient.IsPage(b):
		return fmt.Errorf("%w (%w)", err, httpclient.ErrPage)
	}
	return fmt.Errorf("%w: %w", httpclient.ErrUnusable, err)
}
