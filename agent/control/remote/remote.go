// Package remote lets people control an agent from another computer: the interface
// of package control over TLS 1.3, in which both sides show certificates that they
// made themselves and each admits only those it has pinned.
//
// Pinning is the work of a pairing code, which the controlled computer shows and a
// person types at the other. Both prove to each other that they know the code, in a
// proof over the certificates they see: an attacker in the middle presents different
// certificates to each side, so neither proof verifies. The code has 80 random bits, so that a
// proof that was seen does not betray it; it is good for one pairing, for minutes
// and for a few tries.
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

// Port is where an agent is looked for that was named without a port.
const Port = 31419

// identityFile holds a computer's key and certificate.
const identityFile = "identity.pem"

// identity returns the certificate of a folder with its key, which are made if they
// are not there. It lasts: the other side knows this computer by it.
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

// fingerprint is what a certificate is known by.
func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// shown is the fingerprint of the certificate that the other side showed, whose key
// TLS has seen it use; "" if there is none.
func shown(s *tls.ConnectionState) string {
	if s == nil || len(s.PeerCertificates) == 0 {
		return ""
	}
	return fingerprint(s.PeerCertificates[0].Raw)
}
