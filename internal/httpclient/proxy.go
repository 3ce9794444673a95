package httpclient

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	_ "golang.org/x/crypto/x509roots/fallback" // where the system has no certificates of its own
	"golang.org/x/net/http/httpproxy"
)

// Direct, as a proxy, is none, whatever the environment says.
const Direct = "direct"

var schemes = []string{"http", "https", "socks5", "socks5h"}

// CheckProxy says what is wrong with a proxy as Transport takes it.
func CheckProxy(proxy string) error {
	if proxy == "" || proxy == Direct {
		return nil
	}
	u, err := url.Parse(proxy)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return fmt.Errorf("%s is not a proxy URL; use http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT (with USER:PASSWORD@ before HOST if it requires a login), %s for no proxy, or nothing to use the environment's",
			redacted(u, proxy), Direct)
	}
	return nil
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

// Transport carries requests through a proxy: a URL, Direct, or "" for what
// HTTP_PROXY, HTTPS_PROXY and NO_PROXY say. Hosts, domains (with a dot before them) and
// networks of except are reached without it, as is this computer.
func Transport(proxy string, except []string) (*http.Transport, error) {
	if err := CheckProxy(proxy); err != nil {
		return nil, err
	}
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
