package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/scheduler"
	"github.com/starling-grid/starling/server/upload"
)

// NextKey is the name of a new code signing key until everything is signed with it.
const NextKey = "next_code_sign"

// keys are the keys of a project, as they were when they were read.
type keys struct {
	upload    *protocol.PrivateKey
	certifier *upload.Certifier
	codeSign  *protocol.PublicKey
	old       []scheduler.OldKey
}

// UploadKey returns the key from which the project's secrets are derived. It is never rotated.
func (p *Project) UploadKey() *protocol.PrivateKey { return p.keys.Load().upload }

// Certifier makes and checks upload certificates.
func (p *Project) Certifier() *upload.Certifier { return p.keys.Load().certifier }

// CodeSign verifies the signatures of programs.
func (p *Project) CodeSign() *protocol.PublicKey { return p.keys.Load().codeSign }

// OldKeys are the former code signing keys.
func (p *Project) OldKeys() []scheduler.OldKey { return p.keys.Load().old }

// ReadKeys reads the keys again: they may have been rotated.
func (p *Project) ReadKeys() error {
	k, err := p.readKeys()
	if err == nil {
		p.keys.Store(k)
	}
	return err
}

func (p *Project) readKeys() (*keys, error) {
	k := new(keys)
	read := func(name string) (string, error) {
		b, err := os.ReadFile(filepath.Join(p.Dir, KeysDir, name))
		return string(b), err
	}
	text, err := read("upload_private")
	if err != nil {
		return nil, err
	}
	if k.upload, err = protocol.ParsePrivateKey(text); err != nil {
		return nil, fmt.Errorf("upload_private: %w", err)
	}
	k.certifier = upload.NewCertifier(k.upload)
	if text, err = read("code_sign_public"); err != nil {
		return nil, err
	}
	if k.codeSign, err = protocol.ParsePublicKey(text); err != nil {
		return nil, fmt.Errorf("code_sign_public: %w", err)
	}
	if p.Rotating() {
		return k, nil // signatures may be of either key
	}
	// As in BOINC: old_key_0, old_key_1, … and their signatures.
	for n := 0; ; n++ {
		old, err := read("old_key_" + strconv.Itoa(n))
		if errors.Is(err, fs.ErrNotExist) {
			return k, nil
		}
		sig, err2 := read("signature_" + strconv.Itoa(n))
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		if err := protocol.AcceptNewKey(old, k.codeSign.Text(), sig); err != nil {
			return nil, fmt.Errorf("signature_%d: %w", n, err)
		}
		k.old = append(k.old, scheduler.OldKey{Text: old, Signature: sig})
	}
}

// SigningKey reads the private key, which an operator may keep elsewhere most
// of the time.
func (p *Project) SigningKey() (*protocol.PrivateKey, error) {
	text, err := os.ReadFile(filepath.Join(p.Dir, KeysDir, "code_sign_private"))
	if err != nil {
		return nil, fmt.Errorf("code signing key: %w", err)
	}
	key, err := protocol.ParsePrivateKey(string(text))
	if err != nil {
		return nil, err
	}
	if key.Public().Text() != p.CodeSign().Text() {
		return nil, errors.New("keys/code_sign_private and keys/code_sign_public are not a pair: put the private key there that belongs to the public one, or none to publish versions that were signed elsewhere")
	}
	return key, nil
}

// MakeKeys makes a pair of keys, PATH_private and PATH_public.
func MakeKeys(path string) error {
	key, err := protocol.GenerateKey()
	if err != nil {
		return err
	}
	if err := atomicfile.Write(path+"_private", []byte(key.Text()), 0o600); err != nil {
		return err
	}
	return atomicfile.Write(path+"_public", []byte(key.Public().Text()), 0o600)
}

// ReadPrivate reads a private key.
func ReadPrivate(path string) (*protocol.PrivateKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := protocol.ParsePrivateKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// Rotating reports whether a rotation was begun and not ended.
func (p *Project) Rotating() bool {
	_, err := os.Stat(filepath.Join(p.Dir, KeysDir, NextKey+"_public"))
	return err == nil
}
