package operate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/project"
)

// SignatureSuffix is appended to a file's path to get the path of its signature, as with BOINC's
// sign_executable.
const SignatureSuffix = ".sig"

// SignFiles signs files with the private key at a path. Each signature is written into a file next
// to the signed one, so that the files can be published from a computer without that key. It needs
// no project.
func SignFiles(keyPath string, paths []string) error {
	key, err := project.ReadPrivate(keyPath)
	if err != nil {
		return err
	}
	for _, path := range paths {
		sig, err := signedBy(key, path)
		if err == nil {
			err = atomicfile.Write(path+SignatureSuffix, []byte(sig), 0o644)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func signedBy(key *protocol.PrivateKey, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return key.Sign(f)
}

// A signer returns the signatures of a version's files. If the project has no private key, they
// were made elsewhere.
type signer struct {
	public  *protocol.PublicKey
	private *protocol.PrivateKey // nil: it is elsewhere
}

func newSigner(p *project.Project) (signer, error) {
	key, err := p.SigningKey()
	if errors.Is(err, fs.ErrNotExist) {
		return signer{public: p.CodeSign()}, nil
	}
	return signer{public: p.CodeSign(), private: key}, err
}

// signature returns the signature for the file at path, whose stored content is stored.
func (s signer) signature(path string, stored io.Reader) (string, error) {
	if s.private != nil {
		return s.private.Sign(stored)
	}
	sig, err := os.ReadFile(path + SignatureSuffix)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s is not signed, and the project's private key is not in keys/. "+
			"Where that key is, run: starling-server version sign code_sign_private %[1]s; then copy %[1]s%s here", path, SignatureSuffix)
	case err != nil:
		return "", err
	}
	if err := s.public.Verify(stored, string(sig)); err != nil {
		return "", fmt.Errorf("%s: %w: it was made for another file or with another key than keys/code_sign_public. Sign the file again", path+SignatureSuffix, err)
	}
	return strings.TrimSpace(string(sig)) + "\n", nil
}

// check returns an error for all files without a signature before any is stored, since names can be
// used only once.
func (s signer) check(paths []string) error {
	if s.private != nil {
		return nil
	}
	var errs []error
	for _, path := range paths {
		f, err := os.Open(path)
		if err == nil {
			_, err = s.signature(path, f)
			_ = f.Close()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
