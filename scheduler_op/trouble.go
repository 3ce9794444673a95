package schedulerop

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
)

// A StatusError is an answer with a status that is not one of success.
type StatusError struct{ Status int }

func (e *StatusError) Error() string { return "HTTP " + e.text() }

func (e *StatusError) text() string { return fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)) }

// Diagnose classifies an error of a Client. It covers all errors there are, for all code that shows
// them. If several schedulers failed, the first counts. now is this computer's clock. masterURL
// names the server if the error does not.
func Diagnose(err error, masterURL string, now time.Time) reason.Reason {
	if err == nil {
		return reason.Reason{}
	}
	host := hostOf(masterURL)
	if e, ok := errors.AsType[*Error](err); ok {
		host, err = hostOf(e.URL), e
	}
	server, at := host, lastHost(err)
	redirected := at != "" && at != server
	if redirected {
		host = fmt.Sprintf("%s (to which %s redirects)", at, server)
	}
	t := reason.Reason{Code: reason.ContactFailed, About: host, Detail: err.Error()}
	if e, ok := errors.AsType[*StatusError](err); ok {
		if t.Code, t.About = ofStatus(e.Status), "HTTP "+e.text(); redirected {
			t.About += fmt.Sprintf(" from %s, to which %s redirects", at, server)
		}
		return t
	}
	if code := ofCertificate(err, now); code != "" {
		t.Code = code
		return t
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		t.Code, t.About = reason.ProxyDown, proxyOf(op)
		return t
	}
	if _, ok := errors.AsType[*httpclient.RedirectError](err); ok {
		t.Code, t.About = reason.RedirectRefused, server
		return t
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if t.Code = reason.NameUnknown; !redirected {
			t.About = dns.Name
		}
		return t
	}
	var timeout net.Error
	switch {
	case sysfault.Refused(err):
		t.Code = reason.ServerDown
	case sysfault.Unreachable(err):
		t.Code = reason.Offline
	case errors.Is(err, errDrips), errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		t.Code = reason.ServerSilent
	case errors.Is(err, protocol.ErrNoScheduler), errors.Is(err, httpclient.ErrPage):
		t.Code = reason.NotAProject
	case errors.Is(err, httpclient.ErrUnusable), errors.Is(err, errLong): // ahead of the next: a reply may end in the middle of an element
		t.Code = reason.ReplyUnusable
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errCut), sysfault.Lost(err):
		t.Code = reason.ConnectionLost
	}
	return t
}

// Text returns the text of an error for the person who asked for something just now: why the
// server gave no usable reply, according to Diagnose, with a cure, or its refusal in its own words. An error that
// is not a Client's, or has a text from words.Explain, has the text of sysfault.Text.
func Text(err error, now time.Time) words.Text {
	if err == nil {
		return words.Text{}
	}
	_, explained := words.Explanation(err)
	e, ok := errors.AsType[*Error](err)
	if explained || !ok {
		return sysfault.Text(err)
	}
	trouble := Diagnose(err, e.URL, now)
	text := trouble.Text(now)
	if cure := trouble.CureNow(); cure.Is() {
		text = words.And(text, words.T("You can: {cure}", "cure", cure))
	}
	if refused, ok := errors.AsType[*protocol.AccountError](err); ok {
		text = words.Plain(hostOf(e.URL) + ": " + refused.Error())
	}
	if err.Error() != e.Error() {
		text = words.Plain(strings.Replace(err.Error(), e.Error(), text.String(), 1))
	}
	return text
}

// lastHost returns the host of the last request that led to an error, or "" if it is unknown.
func lastHost(err error) string {
	if r, ok := errors.AsType[*reached](err); ok {
		return r.host
	}
	if e, ok := errors.AsType[*url.Error](err); ok { // of package filexfer
		return hostOf(e.URL)
	}
	return ""
}

// ofStatus returns the code for an HTTP status.
func ofStatus(status int) reason.Code {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return reason.Forbidden
	case status == http.StatusNotFound:
		return reason.NotFound
	case status == http.StatusGone:
		return reason.Closed
	case status == http.StatusProxyAuthRequired:
		return reason.ProxyRefused
	case status == http.StatusTooManyRequests:
		return reason.TooManyRequests
	case status == http.StatusServiceUnavailable:
		return reason.Maintenance
	case status >= 500:
		return reason.ServerError
	}
	return reason.HTTPError
}

// ofCertificate returns the fault of a server's certificate, or "" if the error has another cause.
func ofCertificate(err error, now time.Time) reason.Code {
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil && now.Before(invalid.Cert.NotBefore):
		return reason.CertNotYetValid
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return reason.CertExpired
	case errors.As(err, new(x509.HostnameError)):
		return reason.CertWrongName
	case errors.As(err, new(x509.UnknownAuthorityError)), errors.As(err, new(*tls.CertificateVerificationError)):
		return reason.CertUntrusted
	case errors.As(err, new(tls.RecordHeaderError)), errors.As(err, new(tls.AlertError)), errors.Is(err, http.ErrSchemeMismatch):
		return reason.TLSFailed
	}
	return ""
}

// proxyOf returns the address of a proxy that could not be reached.
func proxyOf(op *net.OpError) string {
	if dns, ok := errors.AsType[*net.DNSError](op.Err); ok {
		return dns.Name
	}
	if dial, ok := errors.AsType[*net.OpError](op.Err); ok && dial.Addr != nil {
		return dial.Addr.String()
	}
	return ""
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
