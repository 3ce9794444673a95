// Package testacme runs an ACME service for a test on loopback. The service is pebble, which Let's
// Encrypt's authors wrote for tests. It resolves all names to loopback.
package testacme

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/starling-grid/starling/internal/testservice"
)

// A Service is a running ACME service.
type Service struct {
	Directory string       // its URL
	Client    *http.Client // that trusts it
	Roots     *x509.CertPool
}

// Start starts a service that ends with the test, and that verifies applicants for certificates at
// tlsPort on loopback. It builds the service if necessary. With -short it skips the test.
func Start(t *testing.T, tlsPort int) *Service {
	t.Helper()
	program := testservice.Program(t, "acme", "pebble", "certificates by ACME are")
	dir := t.TempDir()
	pool := certificate(t, dir)
	addr, management := testservice.FreeAddress(t), testservice.FreeAddress(t)
	settings := map[string]any{"pebble": map[string]any{
		"listenAddress": addr, "managementListenAddress": management, "tlsPort": tlsPort, "httpPort": 1,
		"certificate": filepath.Join(dir, "cert.pem"), "privateKey": filepath.Join(dir, "key.pem"), "keyAlgorithm": "ecdsa",
		"retryAfter": map[string]int{"authz": 1, "order": 1},
	}}
	text, err := json.Marshal(settings)
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, "pebble.json"), text, 0o600))
	cmd := exec.CommandContext(t.Context(), program, "-config", filepath.Join(dir, "pebble.json"), "-dnsserver", names(t))
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0")
	s := &Service{
		Directory: "https://" + addr + "/dir",
		Client:    &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}, Timeout: time.Minute},
	}
	testservice.Run(t, cmd, func() error {
		s.Roots, err = s.roots(management)
		return err
	})
	return s
}

// roots returns the certificate that vouches for those which the service makes.
func (s *Service) roots(management string) (*x509.CertPool, error) {
	res, err := s.Client.Get("https://" + management + "/roots/0") //nolint:noctx // on loopback
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("HTTP %d, no certificate", res.StatusCode)
	}
	return pool, nil
}

// certificate makes the service's own certificate.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	check(t, err)
	text, err := x509.MarshalPKCS8PrivateKey(key)
	check(t, err)
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: text}} {
		check(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
	made, err := x509.ParseCertificate(der)
	check(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(made)
	return pool
}

// names answers questions for any name, and returns where.
func names(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed with the test
	check(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				var n uint16 // the message's length
				for binary.Read(c, binary.BigEndian, &n) == nil {
					b := make([]byte, n)
					if _, err := io.ReadFull(c, b); err != nil {
						return
					}
					answer := loopback(b)
					_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)) //nolint:gosec // a few bytes
				}
			}()
		}
	}()
	return l.Addr().String()
}

// loopback answers that every name has the address 127.0.0.1, and nothing else.
func loopback(question []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) == 0 {
		return nil
	}
	q := m.Questions[0]
	answer := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions[:1]}
	if q.Type == dnsmessage.TypeA {
		answer.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1},
			Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
		}}
	}
	b, err := answer.Pack()
	if err != nil {
		return nil
	}
	return b
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
