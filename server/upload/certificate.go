package upload

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/starling-grid/starling/protocol"
)

// A Certifier makes and checks upload certificates: proofs that this project allows the upload of a
// file with a certain name and largest size. It is safe for concurrent use.
//
// Clients return a certificate unchanged and do not read it, so only the project needs to
// understand it. It is a HMAC-SHA256 over the text that BOINC signs, with a secret derived from the
// project's upload key. BOINC's own form, a signature by RSA, takes 300 times as long to make. It
// is accepted too, for results of older servers.
type Certifier struct {
	secret [sha256.Size]byte
	public *protocol.PublicKey
}

// NewCertifier returns the Certifier of a project with the given upload key.
func NewCertifier(key *protocol.PrivateKey) *Certifier {
	return &Certifier{
		secret: sha256.Sum256([]byte("upload certificates\x00" + key.Text())),
		public: key.Public(),
	}
}

// Certify returns the certificate of a file: 64 hex digits.
func (c *Certifier) Certify(name string, maxNBytes int64) string {
	return hex.EncodeToString(c.sum(name, maxNBytes))
}

// Valid reports whether a certificate was made for a file of that name and largest size. White
// space in it does not count.
func (c *Certifier) Valid(name string, maxNBytes int64, certificate string) bool {
	digits := strings.Join(strings.Fields(certificate), "")
	if len(digits) != hex.EncodedLen(sha256.Size) {
		return c.public.VerifyText(protocol.CertificateText(name, maxNBytes), certificate) == nil
	}
	sum, err := hex.DecodeString(digits)
	return err == nil && hmac.Equal(sum, c.sum(name, maxNBytes))
}

func (c *Certifier) sum(name string, maxNBytes int64) []byte {
	mac := hmac.New(sha256.New, c.secret[:])
	mac.Write([]byte(protocol.CertificateText(name, maxNBytes)))
	return mac.Sum(nil)
}
