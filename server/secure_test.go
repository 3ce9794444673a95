package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/project"
)

// A server supports TLS, and redirects requests without it.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	l := listen(t)
	plain := listen(t)
	base := "https://" + l.Addr().String() + "/demo/"
	w := newWorld(t, `master_url = "`+master+`"`, `master_url = "`+base+`"`, "\ntls = false", "\ntls = true",
		`tls_cert = ""`, `tls_cert = "keys/cert.pem"`, `tls_key = ""`, `tls_key = "keys/key.pem"`)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w.must(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	w.must(err)
	text, err := x509.MarshalPKCS8PrivateKey(key)
	w.must(err)
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: text}} {
		w.must(os.WriteFile(filepath.Join(w.dir, "keys", name), pem.EncodeToMemory(block), 0o600))
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	log := new(lockedBuffer)
	p, err := project.Open(t.Context(), w.dir, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	w.must(err)
	defer p.Close()
	if len(p.Config.Proxies()) != 0 || p.Config.ListenAddr() != l.Addr().String() {
		t.Errorf("listens at %s, believes %v", p.Config.ListenAddr(), p.Config.Proxies())
	}
	s := server.New(p, server.Part{Roles: []string{"web"}})
	s.Redirect = plain
	defer served(t, s, l)()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}}
	for _, from := range []string{base, "http://" + plain.Addr().String() + "/demo/"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, from, nil)
		w.must(err)
		res, err := client.Do(req)
		w.must(err)
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != 200 || res.TLS == nil || !strings.Contains(string(body), "<scheduler>"+base+"cgi</scheduler>") {
			t.Errorf("%s: HTTP %d, %v, %s", from, res.StatusCode, err, body)
		}
	}
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	w.must(err)
	_, err = io.WriteString(c, "GET / HTTP/1.0\r\n\r\n")
	w.must(errors.Join(err, c.Close()))
	testwait.Until(t, "a message about a client without TLS, for those who look for it", func() bool {
		return strings.Contains(log.String(), "TLS handshake error")
	})
	if text := log.String(); !strings.Contains(text, "level=DEBUG msg=\"trouble with a connection\"") {
		t.Errorf("the log has %s", text)
	}
}
