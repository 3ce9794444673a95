package httpclient

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/starling-grid/starling/internal/logflag"
)

// Logged writes the requests that next carries down, if log's flags want that.
func Logged(next http.RoundTripper, log *slog.Logger) http.RoundTripper {
	return loggedTransport{next, log.With(logflag.Key, logflag.HTTP)}
}

type loggedTransport struct {
	next http.RoundTripper
	log  *slog.Logger
}

// RoundTrip logs the URL without the part after the path, which may hold a password.
func (t loggedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !t.log.Enabled(r.Context(), slog.LevelDebug) {
		return t.next.RoundTrip(r)
	}
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
