package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/hashicorp/go-retryablehttp"
)

// maxRedirects is the maximum number of redirects that one request follows.
const maxRedirects = 10

// A RedirectError is the error for a redirect that is not followed.
type RedirectError struct {
	To  string // host of the address, empty for file:///x and for an unreadable address
	Why string
}

func (e *RedirectError) Error() string {
	if e.To == "" {
		return e.Why
	}
	return "redirect to " + e.To + ": " + e.Why
}

type secretKey struct{}

// WithSecret returns a context for requests whose body contains a secret, such as the key of an account.
// The body is not sent without encryption because of a redirect.
func WithSecret(ctx context.Context) context.Context {
	return context.WithValue(ctx, secretKey{}, true)
}

// Follow is for http.Client.CheckRedirect. It repeats a POST that is answered by 301 as a POST,
// where net/http would make it a GET. Projects move their schedulers and upload handlers to https
// that way. It sends no Referer: the previous address may contain the hash of a password, which the
// next server must not get.
//
// Source: BOINC client/http_curl.cpp, CURLOPT_POST301.
func Follow(req *http.Request, via []*http.Request) error {
	refuse := func(format string, args ...any) error {
		return &RedirectError{req.URL.Host, fmt.Sprintf(format, args...)}
	}
	switch {
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return refuse("unsupported protocol scheme %q", req.URL.Scheme)
	case len(via) >= maxRedirects:
		return refuse("stopped after %d redirects", maxRedirects)
	}
	req.Header.Del("Referer")
	first, last := via[0], via[len(via)-1]
	if last.Method == http.MethodPost && req.Method != http.MethodPost && req.Response.StatusCode == http.StatusMovedPermanently && first.GetBody != nil {
		body, err := first.GetBody()
		if err != nil {
			return err
		}
		req.Method, req.Body, req.GetBody, req.ContentLength = http.MethodPost, body, first.GetBody, first.ContentLength
		if t := first.Header.Get("Content-Type"); t != "" {
			req.Header.Set("Content-Type", t)
		}
	}
	if req.Context().Value(secretKey{}) != nil && req.Method == http.MethodPost && last.URL.Scheme == "https" && req.URL.Scheme == "http" {
		return refuse("it would send a secret without encryption")
	}
	return nil
}

// located makes a RedirectError of a redirect to an unreadable address, for which net/http has an
// error without a type.
type located struct{ http.RoundTripper }

func (l located) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.RoundTripper.RoundTrip(r)
	if err != nil || resp.StatusCode/100 != 3 {
		return resp, err
	}
	if to := resp.Header.Get("Location"); to != "" {
		if _, err := r.URL.Parse(to); err != nil {
			_ = resp.Body.Close()
			return nil, &RedirectError{Why: err.Error()}
		}
	}
	return resp, nil
}

// again is for retryablehttp.Client.CheckRetry. To repeat a request does not change where the server
// sends it.
func again(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if _, ok := errors.AsType[*RedirectError](err); ok {
		return false, err
	}
	return retryablehttp.DefaultRetryPolicy(ctx, resp, err)
}
