// Package remote lets people control an agent from another computer. It offers the interface of
// package control over TLS 1.3. Both sides show certificates that they made themselves, and each
// admits only those it has pinned.
//
// A pairing code does the pinning. The controlled computer shows the code and a person types it at
// the other. Both prove to each other that they have the code, in a proof over the certificates
// they see: an attacker in the middle presents different certificates to each side, so neither
// proof verifies. The code has 80 random bits, so that a recorded proof does not reveal it. It is
// valid for one pairing, for minutes and for a few tries.
//
// Nothing is decided here, and nothing is ever sent in clear text.
package remote

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/internal/atomicfile"
)

// Port is the default port of an agent.
const Port = 31419

// identityFile holds a computer's key and certificate.
const identityFile = "identity.pem"

// identity returns the certificate of a folder with its key. Both are made if they do not exist.
// The certificate is permanent: the other side identifies this computer by it.
func identity(dir string) (tls.Certificate, error) {
	path := filepath.Join(dir, identityFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if b, err = newIdentity(); err == nil {
			err = errors.Join(os.MkdirAll(dir, 0o700), atomicfile.Write(path, b, 0o600))
		}
	}
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("identity for remote control: %w", err)
	}
	cert, err := tls.X509KeyPair(b, b)
	if err != nil {
		return cert, fmt.Errorf("%s: %w; delete it and pair again", path, err)
	}
	return cert, nil
}

func newIdentity() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Starling"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // it is pinned, not judged by its dates
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	b := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	return append(b, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})...), nil
}

// fingerprint returns the string that identifies a certificate.
func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// shown returns the fingerprint of the other side's certificate, or "" without one. TLS has
// verified that the other side has its key.
func shown(s *tls.ConnectionState) string {
	if s == nil || len(s.PeerCertificates) == 0 {
		return ""
	}
	return fingerprint(s.PeerCertificates[0].Raw)
}
