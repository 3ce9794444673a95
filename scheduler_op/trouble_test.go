package schedulerop_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
)

// TestEveryTroubleOnTheWay provokes each kind of trouble, with servers as in reality, and checks
// the text for people.
func TestEveryTroubleOnTheWay(t *testing.T) {
	serve := func(h http.HandlerFunc) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL + "/"
	}
	status := func(code int) string {
		return serve(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
	body := func(text string) string {
		return serve(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
	}
	page := "<!DOCTYPE html><html><body>Welcome to the hotel. Please log in.</body></html>"
	now := time.Now()
	lived := func(from, to time.Time, host string) (string, *tls.Config) { return withCertificate(t, from, to, host) }
	expired, trustExpired := lived(now.Add(-48*time.Hour), now.Add(-24*time.Hour), "127.0.0.1")
	early, trustEarly := lived(now.Add(24*time.Hour), now.Add(48*time.Hour), "127.0.0.1")
	other, trustOther := lived(now.Add(-time.Hour), now.Add(time.Hour), "other.example")
	untrusted, _ := lived(now.Add(-time.Hour), now.Add(time.Hour), "127.0.0.1")
	refuses := status(401)
	const down = "http://127.0.0.1:1/" // no test is given this port
	for _, c := range []struct {
		name    string
		url     string
		master  bool // the master page rather than the scheduler
		proxy   string
		trust   *tls.Config
		timeout time.Duration
		want    reason.Code
		cause   string // in the sentence
	}{
		{name: "server down", url: down, want: reason.ServerDown, cause: "127.0.0.1:"},
		{name: "server silent", url: serve(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() }), timeout: 100 * time.Millisecond, want: reason.ServerSilent, cause: "does not answer"},
		{name: "a redirect to a server that is down", url: serve(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, down+"cgi", http.StatusTemporaryRedirect)
		}), want: reason.ServerDown, cause: "127.0.0.1:1 (to which 127.0.0.1:"},
		{name: "a redirect to no such name", url: serve(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://nosuch.invalid/", http.StatusTemporaryRedirect)
		}), master: true, want: reason.NameUnknown, cause: "nosuch.invalid (to which 127.0.0.1:"},
		{name: "a redirect to a server that denies access", url: serve(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, refuses, http.StatusTemporaryRedirect)
		}), want: reason.Forbidden, cause: "(HTTP 401 Unauthorized from " + strings.TrimSuffix(strings.TrimPrefix(refuses, "http://"), "/") + ", to which 127.0.0.1:"},
		{name: "redirects in a circle", url: serve(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
		}), want: reason.RedirectRefused, cause: " redirects the agent to where"},
		{name: "a redirect to a file", url: serve(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusTemporaryRedirect)
		}), master: true, want: reason.RedirectRefused, cause: "address that it cannot use"},
		{name: "a redirect to an unreadable address", url: serve(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://[::1/", http.StatusTemporaryRedirect)
		}), want: reason.RedirectRefused, cause: "address that it cannot use"},
		{name: "no such name", url: "http://nosuch.invalid/", want: reason.NameUnknown, cause: "nosuch.invalid cannot be resolved"},
		{name: "proxy down", url: "http://project.example/", proxy: down, want: reason.ProxyDown, cause: strings.TrimSuffix(strings.TrimPrefix(down, "http://"), "/")},
		{name: "proxy wants a password", url: "http://project.example/", proxy: status(407), want: reason.ProxyRefused, cause: "407"},
		{name: "certificate expired", url: expired, trust: trustExpired, want: reason.CertExpired, cause: "has expired"},
		{name: "clock behind", url: early, trust: trustEarly, want: reason.CertNotYetValid, cause: "clock"},
		{name: "another's certificate", url: other, trust: trustOther, want: reason.CertWrongName, cause: "another name"},
		{name: "unknown authority", url: untrusted, want: reason.CertUntrusted, cause: "not trusted"},
		{name: "no TLS there", url: strings.Replace(status(200), "http:", "https:", 1), want: reason.TLSFailed, cause: "secure connection"},
		{name: "a login page for the master page", url: body(page), master: true, want: reason.NotAProject, cause: "login page"},
		{name: "a login page for the scheduler", url: body(page), want: reason.NotAProject, cause: "login page"},
		{name: "not found", url: status(404), want: reason.NotFound, cause: "404"},
		{name: "gone", url: status(410), want: reason.Closed, cause: "410"},
		{name: "forbidden", url: status(403), want: reason.Forbidden, cause: "403"},
		{name: "too many requests", url: status(429), want: reason.TooManyRequests, cause: "429"},
		{name: "maintenance", url: status(503), want: reason.Maintenance, cause: "503"},
		{name: "a fault", url: status(500), want: reason.ServerError, cause: "500"},
		{name: "a strange status", url: status(418), want: reason.HTTPError, cause: "418"},
		{name: "an empty reply", url: body(""), want: reason.ReplyUnusable, cause: "cannot be understood"},
		{name: "half a reply", url: body("<scheduler_reply><hostid>5</hostid>"), want: reason.ReplyUnusable, cause: "cannot be understood"},
		{name: "a connection cut", url: serve(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "<scheduler_reply>")
		}), want: reason.ConnectionLost, cause: "was lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			way, err := httpclient.Transport(c.proxy, nil)
			if err != nil {
				t.Fatal(err)
			}
			way.TLSClientConfig = c.trust
			client := &schedulerop.Client{HTTP: httpclient.New(way)}
			client.HTTP.RetryMax = 0
			ctx := t.Context()
			if c.timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.timeout)
				defer cancel()
			}
			if c.master {
				_, err = client.MasterPage(ctx, c.url)
			} else {
				_, err = client.Session(ctx, []string{c.url}, 0, &protocol.SchedulerRequest{})
			}
			got := schedulerop.Diagnose(err, c.url, now)
			if got.Code != c.want || !strings.Contains(got.Text(now).String(), c.cause) || got.Detail == "" {
				t.Errorf("%v is %q: %q, want %q with %q", err, got.Code, got.Text(now), c.want, c.cause)
			}
			if text := schedulerop.Text(fmt.Errorf("attach: %w", err), now).String(); !strings.HasPrefix(text, "attach: "+got.Text(now).String()+" You can: ") {
				t.Errorf("a person who waits for it reads %q, want %q and a cure", text, got.Text(now))
			}
			if text := schedulerop.Text(words.Explain(err, words.Plain("because")), now); text.String() != "because" {
				t.Errorf("an error with an explanation reads %q", text)
			}
			if strings.Contains(got.Text(now).String(), "tcp") || strings.Contains(got.Text(now).String(), "x509") {
				t.Errorf("raw words: %q", got.Text(now))
			}
		})
	}
}

// TestNoTroubleIsNone checks that no error is no trouble, and that an unknown error is trouble all
// the same.
func TestNoTroubleIsNone(t *testing.T) {
	now := time.Now()
	if got := schedulerop.Diagnose(nil, "http://p.example/", now); got.Is() {
		t.Errorf("got %+v", got)
	}
	if got := schedulerop.Diagnose(context.Canceled, "http://p.example/", now); got.Code != reason.ContactFailed || !strings.Contains(got.Text(now).String(), "p.example") {
		t.Errorf("got %+v", got)
	}
}

// withCertificate starts a server whose certificate is valid from and to then, for host,
// and returns what trusts it.
func withCertificate(t *testing.T, from, to time.Time, host string) (address string, trust *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: to, BasicConstraintsValid: true, IsCA: true}
	if ip := net.ParseIP(host); ip != nil {
		cert.IPAddresses = []net.IP{ip}
	} else {
		cert.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.StartTLS()
	t.Cleanup(s.Close)
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return "https://127.0.0.1:" + u.Port() + "/", &tls.Config{RootCAs: pool}
}
