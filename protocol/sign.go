package protocol

import (
	"bytes"
	"crypto"
	"crypto/md5"
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
)

// BOINC's keys are RSA with a modulus of exactly 1024 bits. The field sizes of its text formats do
// not allow anything else.
const (
	keyBits     = 1024
	modulusSize = keyBits / 8
	primeSize   = modulusSize / 2
	publicSize  = 2 * modulusSize
	privateSize = 3*modulusSize + 5*primeSize
	hexLine     = 64 // digits a line
	maxKeyText  = 4096
	maxSignText = 1024
	md5HexLen   = 2 * md5.Size
)

// ErrSignature means that the signature does not match the content.
var ErrSignature = errors.New("signature does not match the content")

// A PublicKey verifies signatures by the private half of a project's key pair. It is safe for
// concurrent use.
type PublicKey struct{ n, e *big.Int }

// A PrivateKey signs application files, new keys or upload certificates. It is
// safe for concurrent use.
type PrivateKey struct{ key *rsa.PrivateKey }

// GenerateKey makes a key pair.
func GenerateKey() (*PrivateKey, error) {
	k, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, fmt.Errorf("generate a key: %w", err)
	}
	return &PrivateKey{k}, nil
}

// ParsePublicKey reads BOINC's text of a public key. Like BOINC's released clients it accepts
// upper-case digits, CR LF and blank lines around the text.
func ParsePublicKey(text string) (*PublicKey, error) {
	b, err := parseKeyText(text, publicSize)
	if err != nil {
		return nil, fmt.Errorf("public key: %w", err)
	}
	k := &PublicKey{n: number(b[:modulusSize]), e: number(b[modulusSize:])}
	if k.n.BitLen() != keyBits || k.n.Bit(0) == 0 {
		return nil, fmt.Errorf("public key: modulus has %d bits, want an odd one of %d", k.n.BitLen(), keyBits)
	}
	if k.e.Cmp(big.NewInt(3)) < 0 || k.e.Bit(0) == 0 || k.e.Cmp(k.n) >= 0 {
		return nil, errors.New("public key: exponent out of range")
	}
	return k, nil
}

// ParsePrivateKey reads BOINC's text of a private key and checks that its parts are consistent.
func ParsePrivateKey(text string) (*PrivateKey, error) {
	b, err := parseKeyText(text, privateSize)
	if err != nil {
		return nil, fmt.Errorf("private key: %w", err)
	}
	field := func(size int) *big.Int {
		v := number(b[:size])
		b = b[size:]
		return v
	}
	n, e, d := field(modulusSize), field(modulusSize), field(modulusSize)
	p, q := field(primeSize), field(primeSize)
	if !e.IsInt64() || e.Int64() > 1<<31-1 {
		return nil, errors.New("private key: exponent out of range")
	}
	k := &rsa.PrivateKey{
		PublicKey: rsa.PublicKey{N: n, E: int(e.Int64())},
		D:         d, Primes: []*big.Int{p, q},
	}
	if err := k.Validate(); err != nil {
		return nil, fmt.Errorf("private key: %w", err)
	}
	k.Precompute()
	return &PrivateKey{k}, nil
}

// Text returns the key in BOINC's format, with its final newline.
func (k *PublicKey) Text() string {
	b := make([]byte, publicSize)
	k.n.FillBytes(b[:modulusSize])
	k.e.FillBytes(b[modulusSize:])
	return strconv.Itoa(keyBits) + "\n" + hexText(b)
}

// Text returns the key in BOINC's format, with its final newline.
func (k *PrivateKey) Text() string {
	b := make([]byte, privateSize)
	at := 0
	put := func(v *big.Int, size int) {
		v.FillBytes(b[at : at+size])
		at += size
	}
	put(k.key.N, modulusSize)
	put(big.NewInt(int64(k.key.E)), modulusSize)
	put(k.key.D, modulusSize)
	put(k.key.Primes[0], primeSize)
	put(k.key.Primes[1], primeSize)
	put(k.key.Precomputed.Dp, primeSize)
	put(k.key.Precomputed.Dq, primeSize)
	put(k.key.Precomputed.Qinv, primeSize)
	return strconv.Itoa(keyBits) + "\n" + hexText(b)
}

// Public returns the public half.
func (k *PrivateKey) Public() *PublicKey {
	return &PublicKey{n: k.key.N, e: big.NewInt(int64(k.key.E))}
}

// Sign returns the text of the signature over everything that content yields. The signature covers
// the 32 hex digits of the content's MD5, padded by PKCS #1 v1.5 without a DigestInfo, so it is
// always the same.
func (k *PrivateKey) Sign(content io.Reader) (string, error) {
	digest, err := md5Hex(content)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	sig, err := rsa.SignPKCS1v15(rand.Reader, k.key, crypto.Hash(0), digest)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return hexText(sig), nil
}

// SignText signs a text in memory.
func (k *PrivateKey) SignText(text string) (string, error) { return k.Sign(strings.NewReader(text)) }

// Verify checks that signature was made over everything that content yields. If it was not, Verify
// returns ErrSignature. If either cannot be read, it returns another error.
func (k *PublicKey) Verify(content io.Reader, signature string) error {
	sig, err := parseSignature(signature)
	if err != nil {
		return err
	}
	digest, err := md5Hex(content)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	// Raw RSA on big integers, since a project's exponent need not fit an int.
	m := new(big.Int).Exp(number(sig), k.e, k.n).FillBytes(make([]byte, modulusSize))
	want := bytes.Repeat([]byte{0xff}, modulusSize)
	want[0], want[1], want[modulusSize-md5HexLen-1] = 0, 1, 0
	copy(want[modulusSize-md5HexLen:], digest)
	if !bytes.Equal(m, want) {
		return ErrSignature
	}
	return nil
}

// VerifyText verifies a text in memory.
func (k *PublicKey) VerifyText(text, signature string) error {
	return k.Verify(strings.NewReader(text), signature)
}

// AcceptNewKey decides whether to accept a new key from a reply when current is already known. The
// new text needs a signature of its trimmed form by current.
func AcceptNewKey(current, offered, signature string) error {
	if strings.TrimSpace(signature) == "" {
		return errors.New("new code signing key: missing signature by the old key")
	}
	old, err := ParsePublicKey(current)
	if err != nil {
		return fmt.Errorf("new code signing key: the key now known: %w", err)
	}
	if _, err := ParsePublicKey(offered); err != nil {
		return fmt.Errorf("new code signing key: %w", err)
	}
	if err := old.VerifyText(strings.TrimSpace(offered), signature); err != nil {
		return fmt.Errorf("new code signing key: %w", err)
	}
	return nil
}

// CertificateText returns the text that an upload certificate signs: a file called name of at most
// maxNBytes may be uploaded.
func CertificateText(name string, maxNBytes int64) string {
	return "<name>" + name + "</name><max_nbytes>" + strconv.FormatInt(maxNBytes, 10) + "</max_nbytes>"
}

func md5Hex(content io.Reader) ([]byte, error) {
	h := md5.New()
	if _, err := io.Copy(h, content); err != nil {
		return nil, err
	}
	return []byte(hex.EncodeToString(h.Sum(nil))), nil
}

func number(b []byte) *big.Int { return new(big.Int).SetBytes(b) }

func parseKeyText(text string, size int) ([]byte, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxKeyText {
		return nil, fmt.Errorf("text of %d bytes is too long", len(text))
	}
	bits, digits, _ := strings.Cut(text, "\n")
	if strings.TrimSpace(bits) != strconv.Itoa(keyBits) {
		return nil, fmt.Errorf("first line %.20q, want %d", bits, keyBits)
	}
	return parseHex(digits, size)
}

func parseSignature(text string) ([]byte, error) {
	if len(text) > maxSignText {
		return nil, fmt.Errorf("signature: text of %d bytes is too long", len(text))
	}
	b, err := parseHex(text, modulusSize)
	if err != nil {
		return nil, fmt.Errorf("signature: %w", err)
	}
	return b, nil
}

// parseHex reads hex digits up to a dot or the end. It ignores white space.
func parseHex(text string, size int) ([]byte, error) {
	text, rest, _ := strings.Cut(text, ".")
	if strings.TrimSpace(rest) != "" {
		return nil, errors.New("text after the final dot")
	}
	digits := strings.Join(strings.Fields(text), "")
	if len(digits) != 2*size {
		return nil, fmt.Errorf("%d hex digits, want %d", len(digits), 2*size)
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// hexText prints b as BOINC does: 64 digits a line, then a line with a dot.
func hexText(b []byte) string {
	var s strings.Builder
	digits := hex.EncodeToString(b)
	for len(digits) > 0 {
		n := min(hexLine, len(digits))
		s.WriteString(digits[:n])
		s.WriteByte('\n')
		digits = digits[n:]
	}
	s.WriteString(".\n")
	return s.String()
}
