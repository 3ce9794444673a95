package certs_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testacme"
	"github.com/starling-grid/starling/server/certs"
)

// pair makes a certificate with a serial number, as PEM.
func pair(t *testing.T, serial int64) (cert, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), DNSNames: []string{"project.example"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})
}

// What clients would refuse is found before they do.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	cert, key := pair(t, 1)
	_, other := pair(t, 2)
	for _, tt := range []struct {
		name, host, want string
		key              []byte
		now              time.Time
	}{
		{"it is fine", "project.example", "", key, time.Now()},
		{"the key is another's", "project.example", "private key does not match", other, time.Now()},
		{"the host is another", "other.example", "is not for other.example", key, time.Now()},
		{"it has expired", "project.example", "is valid from", key, time.Now().Add(2 * time.Hour)},
	} {
		for name, b := range map[string][]byte{certFile: cert, keyFile: tt.key} {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := certs.Check(certFile, keyFile, tt.host, tt.now)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if err := certs.Check(certFile, filepath.Join(dir, "none"), "project.example", time.Now()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a key: %v", err)
	}
}

// A renewed certificate is used from then on. A half-written one is not.
func TestFilesAreReloaded(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	age := time.Now().Add(-time.Hour)
	write := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		age = age.Add(time.Second) // clocks of file systems are coarse
		if err := os.Chtimes(name, age, age); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := certs.OpenFiles(certFile, keyFile, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("files that are not there are a certificate")
	}
	cert, key := pair(t, 1)
	write(certFile, cert)
	write(keyFile, key)
	var logged bytes.Buffer
	f, err := certs.OpenFiles(certFile, keyFile, slog.New(slog.NewTextHandler(&logged, nil)))
	if err != nil {
		t.Fatal(err)
	}
	c := f.Config()
	serves := func(want int64) {
		t.Helper()
		got, err := c.GetCertificate(&tls.ClientHelloInfo{ServerName: "project.example"})
		if err != nil || got.Leaf.SerialNumber.Int64() != want {
			t.Errorf("got %v, %v; want %d", got.Leaf.SerialNumber, err, want)
		}
	}
	serves(1)
	cert, key = pair(t, 2)
	write(certFile, cert)
	serves(1)
	if !strings.Contains(logged.String(), "not usable") {
		t.Errorf("logged %s", logged.String())
	}
	write(keyFile, key)
	serves(2)
	write(keyFile, []byte("nonsense"))
	serves(2)
	if err := os.Remove(certFile); err != nil {
		t.Fatal(err)
	}
	serves(2)
}

// A certificate is requested from an ACME service when the first client connects, is kept, and is
// for the project's host alone.
func TestACME(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // on loopback
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	service := testacme.Start(t, l.Addr().(*net.TCPAddr).Port)
	cache := filepath.Join(t.TempDir(), "tls")
	order := certs.Order{Host: "project.example", Email: "ada@example.org", Directory: service.Directory, Cache: cache, HTTP: service.Client}
	a := certs.NewACME(order)
	go serveTLS(l, a.Config())
	hello := func(name string) (*x509.Certificate, error) {
		c, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{ServerName: name, RootCAs: service.Roots, MinVersion: tls.VersionTLS12}) //nolint:noctx // on loopback
		if err != nil {
			return nil, err
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0], nil
	}
	first, err := hello("project.example")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hello("other.example"); err == nil {
		t.Error("a certificate was made for another host")
	}
	// Another process, or this one after a restart, has it already.
	order.Directory = "https://127.0.0.1:1/nowhere"
	got, err := certs.NewACME(order).Config().GetCertificate(&tls.ClientHelloInfo{CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}})
	if err != nil || got.Leaf.SerialNumber.Cmp(first.SerialNumber) != 0 {
		t.Errorf("after a restart: %v, %v", got, err)
	}
}

func serveTLS(l net.Listener, c *tls.Config) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			s := tls.Server(conn, c)
			_ = s.Handshake() //nolint:noctx // ends with the connection
			_ = s.Close()
		}()
	}
}
