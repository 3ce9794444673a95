// Package httpclient makes the HTTP client with which the agent talks to
// projects: with two short retries, so that a hiccup is not taken for an outage,
// and with redirects followed as BOINC's client does. The long waits between
// attempts are policy, made durable above it.
package httpclient

import (
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// New returns a client, which may be used concurrently. transport carries the requests. If it is
// nil, the client uses a transport that heeds the proxies of the environment. After the last retry
// the client returns the answer as it is.
func New(transport http.RoundTripper) *retryablehttp.Client {
	c := retryablehttp.NewClient()
	if transport != nil {
		c.HTTPClient.Transport = transport
	}
	c.HTTPClient.Transport = located{c.HTTPClient.Transport}
	c.HTTPClient.CheckRedirect = Follow
	c.CheckRetry = again
	c.Logger = nil
	c.RetryMax = 2
	c.RetryWaitMin, c.RetryWaitMax = 500*time.Millisecond, 3*time.Second
	c.ErrorHandler = retryablehttp.PassthroughErrorHandler
	return c
}
