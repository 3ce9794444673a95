package certs_test

import (
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/certs"
)

// A renewed certificate that could not be read, as when the process had too many files open, is read later.
func TestARenewedCertificateIsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write := func(serial int64, at time.Time) {
		cert, key := pair(t, serial)
		for name, b := range map[string][]byte{certFile: cert, keyFile: key} {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(name, at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(1, time.Now().Add(-time.Hour))
	f, err := certs.OpenFiles(certFile, keyFile, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	certs.SetAgain(t, 0)
	serial := func() int64 {
		got, err := f.Config().GetCertificate(&tls.ClientHelloInfo{ServerName: "project.example"})
		if err != nil {
			t.Fatal(err)
		}
		return got.Leaf.SerialNumber.Int64()
	}
	write(2, time.Now())
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	got := serial()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if got != 1 {
		t.Errorf("without a descriptor: certificate %d", got)
	}
	if got := serial(); got != 2 {
		t.Errorf("later: certificate %d, which expires", got)
	}
}
