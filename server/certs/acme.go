package certs

import (
	"crypto/tls"
	"net/http"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// ACME has certificates made and renewed by an ACME service, whose terms it agrees to. The
// service proves that the host is ours by a connection to its port 443 (tls-alpn-01), or to
// port 80 if Redirect answers there (http-01).
type ACME struct {
	m    autocert.Manager
	host string
}

// An Order describes the certificate that is wanted, and the service that issues it.
type Order struct {
	Host      string // for which it is
	Email     string // where the service may write to ("": nowhere)
	Directory string // URL of the service ("": Let's Encrypt)
	Cache     string // folder for keys and certificates, which is made
	HTTP      *http.Client
}

// NewACME prepares an order. The service is not contacted before the first client connects.
func NewACME(o Order) *ACME {
	a := &ACME{host: o.Host}
	a.m.Prompt = autocert.AcceptTOS
	a.m.Cache = autocert.DirCache(o.Cache)
	a.m.HostPolicy = autocert.HostWhitelist(o.Host)
	a.m.Email = o.Email
	a.m.Client = &acme.Client{DirectoryURL: o.Directory, HTTPClient: o.HTTP, UserAgent: "starling-server"}
	return a
}

// Config returns what connections are to use.
func (a *ACME) Config() *tls.Config {
	c := config()
	c.NextProtos = append(c.NextProtos, acme.ALPNProto)
	c.GetCertificate = func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if h.ServerName == "" { // some old clients do not send it
			named := *h
			named.ServerName = a.host
			h = &named
		}
		return a.m.GetCertificate(h)
	}
	return c
}

// Redirect answers on the port for HTTP: to the service, and to all others that the project
// is elsewhere.
func (a *ACME) Redirect(others http.Handler) http.Handler { return a.m.HTTPHandler(others) }
