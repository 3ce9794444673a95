// Package certs has certificates for a server that speaks TLS itself: from files, which
// other programs renew, or from an ACME service such as Let's Encrypt, which it asks itself.
package certs

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// config returns the common configuration of all connections. There is no HTTP/2: few requests of a
// client are worth a connection of many streams, each of which would count for limits.
func config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
}

// Files is a certificate with its key in files, in PEM, which may be replaced at any time.
// It is safe for concurrent use.
type Files struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	stamp   stamp
	current *tls.Certificate
	failed  time.Time // when the files were not usable (zero: they are)
}

// again is the time after which files that were not usable are read again, even if they have not changed: they may have
// another owner now, or the process was short of descriptors.
var again = time.Minute

// Check returns an error if a certificate and its key in files cannot be read or do not match, if
// clients would not accept the certificate for host, or if it is not valid at now. It does not
// check whether clients trust the issuer.
func Check(cert, key, host string, now time.Time) error {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("certificate %s with key %s: %w", cert, key, err)
	}
	if err := pair.Leaf.VerifyHostname(host); err != nil {
		return fmt.Errorf("certificate %s is not for %s", cert, host)
	}
	if from, to := pair.Leaf.NotBefore, pair.Leaf.NotAfter; now.Before(from) || now.After(to) {
		return fmt.Errorf("certificate %s is valid from %s to %s only", cert, from.Format(time.DateOnly), to.Format(time.DateOnly))
	}
	return nil
}

// A stamp is used to detect that files were replaced.
type stamp struct {
	certTime, keyTime time.Time
	certSize, keySize int64
}

// OpenFiles reads a certificate, with those that vouch for it, and its key.
func OpenFiles(cert, key string, log *slog.Logger) (*Files, error) {
	f := &Files{cert: cert, key: key, log: log}
	at, err := f.look()
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s with key %s: %w", cert, key, err)
	}
	f.stamp, f.current = at, &pair
	return f, nil
}

// Config returns what connections are to use.
func (f *Files) Config() *tls.Config {
	c := config()
	c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.get(), nil }
	return c
}

// get returns the current content of the files. If they do not match, as when one of them was
// replaced and the other was not yet, it returns the last matching pair.
func (f *Files) get() *tls.Certificate {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.look()
	if err != nil || at == f.stamp && (f.failed.IsZero() || time.Since(f.failed) < again) {
		return f.current
	}
	f.stamp = at
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		f.failed = time.Now()
		f.log.Warn("certificate files are not usable; the last certificate stays in use", "cert", f.cert, "key", f.key, "err", err)
		return f.current
	}
	f.current, f.failed = &pair, time.Time{}
	f.log.Info("certificate reloaded", "cert", f.cert, "expires", pair.Leaf.NotAfter)
	return f.current
}

func (f *Files) look() (at stamp, err error) {
	cert, err := os.Stat(f.cert)
	if err != nil {
		return at, err
	}
	key, err := os.Stat(f.key)
	if err != nil {
		return at, err
	}
	return stamp{cert.ModTime(), key.ModTime(), cert.Size(), key.Size()}, nil
}
