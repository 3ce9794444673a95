// Package filexfer transfers one file at a time between the host and a project's data servers. It
// rejects files that do not match the project's description: size, checksum and, for application
// files, the signature by the project's key are checked before a file gets its name.
//
// It keeps no state between calls. The agent decides which files are wanted, how many at once and
// when to try again after a failure.
package filexfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Stall is the time after which a transfer is cut off if it has moved fewer than least bytes. A
// transfer that drips delays others just as one that stands still.
//
// Source: BOINC client, http_transfer_timeout.
const (
	Stall = 5 * time.Minute
	least = 1 << 10
)

// A Client transfers files. Its methods may be called concurrently, for
// different files.
type Client struct {
	HTTP      *retryablehttp.Client
	UserAgent string
	Down, Up  *Pace // how fast downloads and uploads may go (nil: as fast as can be)
}

// An Error is a transfer that did not succeed.
type Error struct {
	Op   string // "download" or "upload"
	Name string
	URL  string // "" when it failed before or after the network
	Host string // that answered, which redirects may have chosen ("": none did)
	Num  int    // BOINC's error number, for reports (0 for transient trouble)
	Err  error
}

func (e *Error) Error() string {
	if e.URL == "" {
		return fmt.Sprintf("%s %s: %v", e.Op, e.Name, e.Err)
	}
	return fmt.Sprintf("%s %s (%s): %v", e.Op, e.Name, e.URL, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether trying again later can help.
func (e *Error) Temporary() bool { return e.Num == 0 }

// A StatusError is an HTTP answer other than the one needed.
type StatusError struct{ Code int }

func (e *StatusError) Error() string {
	return fmt.Sprintf("HTTP %d %s", e.Code, http.StatusText(e.Code))
}

// Errors for callers that distinguish causes.
var (
	// ErrStalled means that hardly any data moved for as long as Stall.
	ErrStalled = errors.New("transfer stalled: hardly any data for 5 minutes")
	// ErrCut means that the connection ended before the whole file was there.
	ErrCut = errors.New("connection ended")
	// ErrNoURL means that the project gave no address for the file.
	ErrNoURL = errors.New("the project gave no URL")
)

// A watcher cancels a request whose bodies stall.
type watcher struct {
	ctx      context.Context
	pace     *Pace
	timer    *time.Timer
	moved    atomic.Int64 // bytes since the timer was set
	progress func(n int64)
}

// watched is a body under a watcher's eyes.
type watched struct {
	io.Reader
	*watcher
}

// of returns r as a body to be watched. Each of a request's attempts needs its
// own, since a transport may still read one when the next attempt starts.
func (w *watcher) of(r io.Reader) io.Reader { return watched{r, w} }

func (w watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p[:w.pace.most(len(p))])
	if n > 0 {
		if w.moved.Add(int64(n)) >= least {
			w.moved.Store(0)
			w.timer.Reset(Stall)
		}
		if late := w.pace.wait(w.ctx, n); late != nil && err == nil {
			err = late
		}
		if w.progress != nil {
			w.progress(int64(n))
		}
	}
	return n, err
}

// watch returns a context that ends when no body of the watcher moves any longer,
// and a stop function that must be called. The bodies keep the pace.
func watch(ctx context.Context, pace *Pace, progress func(int64)) (context.Context, *watcher, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watcher{ctx: ctx, pace: pace, progress: progress, timer: time.AfterFunc(Stall, func() { cancel(ErrStalled) })}
	return ctx, w, func() {
		w.timer.Stop()
		cancel(nil)
	}
}

// cause prefers the reason for which a context was cancelled.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil && !errors.Is(c, context.Canceled) {
		return c
	}
	return err
}
