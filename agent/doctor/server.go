package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/starling-grid/starling/internal/words"
)

// clockSlack is how far a clock may be off before certificates and deadlines
// suffer.
const clockSlack = 5 * time.Minute

// server asks a project for its main page, and compares the clocks.
func server(ctx context.Context, way *http.Transport, masterURL string, now func() time.Time) []Finding {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	f := Finding{Check: masterURL, Grade: Good}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, masterURL, nil)
	if err != nil {
		return []Finding{{masterURL, Wrong, err.Error(), "fix the account file"}}
	}
	resp, err := (&http.Client{Transport: way}).Do(req)
	if err != nil {
		f.Grade, f.Text, f.Fix = Wrong, err.Error(), cure(way, req, err)
		return []Finding{f}
	}
	defer resp.Body.Close()
	if f.Text = "responds: " + resp.Status; resp.StatusCode >= 400 {
		f.Grade, f.Fix = Wrong, "the project has a problem, or its address has changed; check its web site; the agent keeps trying"
	}
	all := []Finding{f}
	if theirs, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		if off := now().Sub(theirs).Round(time.Second); off.Abs() > clockSlack {
			all = append(all, Finding{"clock", Wrong, fmt.Sprintf("differs by %s from the clock of %s", words.Span(off), masterURL), "set this computer's clock, or use NTP"})
		}
	}
	return all
}

// cure says what to do about an error.
func cure(way *http.Transport, req *http.Request, err error) string {
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired, or this computer's clock is wrong; if the clock is right, the project must renew it"
	case errors.As(err, new(*tls.CertificateVerificationError)), errors.As(err, new(x509.UnknownAuthorityError)), errors.As(err, new(x509.HostnameError)):
		return "its certificate is not trusted; a proxy may be intercepting the connection, or root certificates are missing (Debian package: ca-certificates)"
	}
	if way.Proxy != nil {
		if proxy, e := way.Proxy(req); e != nil || proxy != nil {
			return "the proxy " + hostOf(proxy) + " is in use, set by proxy in starling.toml or by the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY); check that it is correct"
		}
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "its name cannot be resolved; check that this computer is online and the address is correct"
	}
	return "the server is down or a firewall blocks the connection; the agent keeps trying"
}

func hostOf(u *url.URL) string {
	if u == nil {
		return ""
	}
	return u.Host
}
