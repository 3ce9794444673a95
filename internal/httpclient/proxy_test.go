package httpclient_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"testing"

	"github.com/armon/go-socks5"
	"github.com/starling-grid/starling/internal/httpclient"
)

func TestProxy(t *testing.T) {
	for _, tt := range []struct {
		env, proxy string
		except     []string
		url, want  string
	}{
		{"", "", nil, "https://project.example/", ""},
		{"http://env:1", "", nil, "https://project.example/", "http://env:1"},
		{"http://env:1", "", []string{".example"}, "https://project.example/", ""},
		{"http://env:1", "direct", nil, "https://project.example/", ""},
		{"http://env:1", "socks5://u:p@own:2", nil, "https://project.example/", "socks5://u:p@own:2"},
		{"", "https://own:2/", nil, "http://project.example/", "https://own:2/"},
		{"", "http://own:2", []string{"other.example", "192.0.2.0/24"}, "http://192.0.2.7/", ""},
		{"", "http://own:2", nil, "http://127.0.0.1:8080/", ""},
		{"", "http://own:2", nil, "http://[::1]:8080/", ""},
	} {
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
			t.Setenv(name, tt.env)
		}
		t.Setenv("NO_PROXY", "")
		tr, err := httpclient.Transport(tt.proxy, tt.except)
		if err != nil {
			t.Errorf("%q: %v", tt.proxy, err)
			continue
		}
		got := ""
		if tr.Proxy != nil {
			req, _ := http.NewRequest(http.MethodGet, tt.url, nil)
			u, err := tr.Proxy(req)
			if err != nil {
				t.Error(err)
			}
			if u != nil {
				got = u.String()
			}
		}
		if got != tt.want {
			t.Errorf("%s by %q except %v, environment %q: got %q, want %q", tt.url, tt.proxy, tt.except, tt.env, got, tt.want)
		}
	}
	for _, bad := range []string{"own:2", "ftp://own", "http://", "http://own/path", "http://a b", "socks4://own", "http://u:secret@own/path", "http://own:99999", "socks5://own:0"} {
		_, err := httpclient.Transport(bad, nil)
		if err == nil || !strings.Contains(err.Error(), "use http://HOST:PORT") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Requests pass real proxies, which resolve names themselves.
func TestThroughAProxy(t *testing.T) {
	project := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) }))
	defer project.Close()
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, project.Listener.Addr().String())
	}
	web := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.Host = r.In.Host },
		Transport: &http.Transport{DialContext: dial},
	})
	defer web.Close()
	socks, err := socks5.New(&socks5.Config{
		Dial: dial, Resolver: nowhere{}, Credentials: socks5.StaticCredentials{"ada": "secret"}, Logger: log.New(io.Discard, "", 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { _ = socks.Serve(l) }()
	for proxy, works := range map[string]bool{
		web.URL: true,
		"socks5://ada:secret@" + l.Addr().String(): true,
		"socks5://ada:wrong@" + l.Addr().String():  false,
	} {
		tr, err := httpclient.Transport(proxy, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := httpclient.New(tr)
		c.RetryMax = 0
		resp, err := c.Get("http://project.example/")
		if !works {
			if err == nil {
				t.Errorf("%s: let through", proxy)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", proxy, err)
			continue
		}
		got, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(got) != "project.example" {
			t.Errorf("%s: the project saw %q", proxy, got)
		}
		tr.CloseIdleConnections()
	}
}

// nowhere leaves names unresolved for the dialer.
type nowhere struct{}

func (nowhere) Resolve(ctx context.Context, _ string) (context.Context, net.IP, error) {
	return ctx, net.IPv4(127, 0, 0, 1), nil
}
