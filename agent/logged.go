package agent

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/starling-grid/starling/internal/logflag"
)

// logged writes HTTP requests down, if that is wanted.
func logged(next http.RoundTripper, log *slog.Logger) http.RoundTripper {
	if !log.Enabled(context.Background(), slog.LevelDebug) {
		return next
	}
	return loggedTransport{next, log.With(logflag.Key, logflag.HTTP)}
}

type loggedTransport struct {
	next http.RoundTripper
	log  *slog.Logger
}

// RoundTrip tells nothing behind the path: that may hold a password.
func (t loggedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	began := time.Now()
	resp, err := t.next.RoundTrip(r)
	log := t.log.With("method", r.Method, "url", r.URL.Scheme+"://"+r.URL.Host+r.URL.Path, "took", time.Since(began))
	if err != nil {
		log.Debug("http request failed", "error", err)
	} else {
		log.Debug("http request", "status", resp.StatusCode, "bytes", resp.ContentLength)
	}
	return resp, err
}
