package server

import (
	"crypto/tls"
	"net/http"
	"net/url"
	"path/filepath"

	"github.com/starling-grid/starling/server/certs"
	"github.com/starling-grid/starling/server/project"
)

// secured returns the TLS configuration for connections, or nil if the server does not use TLS
// itself, and the handler for Redirect.
func (s *Server) secured() (*tls.Config, http.Handler, error) {
	u, err := url.Parse(s.Config.MasterURL)
	if err != nil {
		return nil, nil, err
	}
	redirect := elsewhere(u)
	switch c := s.Config; {
	case !c.TLS:
		return nil, redirect, nil
	case c.TLSCert != "":
		f, err := certs.OpenFiles(project.Within(s.Dir, c.TLSCert), project.Within(s.Dir, c.TLSKey), s.Log.With("part", "tls"))
		if err != nil {
			return nil, nil, err
		}
		return f.Config(), redirect, nil
	default:
		a := certs.NewACME(certs.Order{
			Host: u.Hostname(), Email: c.ACMEEmail, Directory: c.ACMEDirectory, Cache: filepath.Join(s.Dir, project.KeysDir, "acme"),
		})
		return a.Config(), a.Redirect(redirect), nil
	}
}

// elsewhere redirects to the project's address.
func elsewhere(u *url.URL) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := url.URL{Scheme: u.Scheme, Host: u.Host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
		http.Redirect(w, r, to.String(), http.StatusPermanentRedirect)
	})
}
