package httpclient

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// Direct, in place of a proxy, means a direct connection, whatever the environment contains.
const Direct = "direct"

var schemes = []string{"http", "https", "socks5", "socks5h"}

// CheckProxy returns an error if Transport cannot use a proxy.
func CheckProxy(proxy string) error {
	if proxy == "" || proxy == Direct {
		return nil
	}
	u, err := url.Parse(proxy)
	if err != nil || !validPort(u.Port()) || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return fmt.Errorf("%s is not a proxy URL; use http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT (with USER:PASSWORD@ before HOST if it requires a login), %s for no proxy, or nothing to use the environment's",
			redacted(u, proxy), Direct)
	}
	return nil
}

// validPort accepts ports of TCP, and none.
func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

func redacted(u *url.URL, text string) string {
	if u == nil {
		return "this"
	}
	if u.User != nil {
		return u.Redacted()
	}
	return fmt.Sprintf("%q", text)
}

// Transport returns a transport that sends requests through a proxy. proxy is a URL, Direct, or ""
// to use HTTP_PROXY, HTTPS_PROXY and NO_PROXY. It bypasses the proxy for this computer and for the
// hosts, domains (with a leading dot) and networks of except.
func Transport(proxy string, except []string) (*http.Transport, error) {
	if err := CheckProxy(proxy); err != nil {
		return nil, err
	}
	trustFallback()
	t := http.DefaultTransport.(*http.Transport).Clone()
	switch proxy {
	case "":
		c := httpproxy.FromEnvironment()
		c.NoProxy = strings.Join(append(except, c.NoProxy), ",")
		t.Proxy = function(c)
	case Direct:
		t.Proxy = nil
	default:
		t.Proxy = function(&httpproxy.Config{HTTPProxy: proxy, HTTPSProxy: proxy, NoProxy: strings.Join(except, ",")})
	}
	return t, nil
}

func function(c *httpproxy.Config) func(*http.Request) (*url.URL, error) {
	f := c.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return f(r.URL) }
}
