package validator

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/store"
)

// A Comparator looks at the output of results.
type Comparator interface {
	// Load reads what a result put out. ErrOutput says that the output is not
	// acceptable and never will be; any other error is worth another try.
	Load(r store.Result) (any, error)
	// Match reports whether two outputs are equivalent.
	Match(a, b any) bool
}

// ErrOutput marks output that cannot be valid, such as a missing file.
var ErrOutput = errors.New("bad output")

// New returns the comparator called name, with output files in files.
func New(name string, files *blob.Dir) (Comparator, error) {
	switch name {
	case "bitwise":
		return bitwise{files}, nil
	case "trivial":
		return trivial{files}, nil
	}
	return nil, fmt.Errorf("validator %q: want bitwise or trivial", name)
}

// bitwise takes outputs as equivalent if each file is, byte for byte.
type bitwise struct{ files *blob.Dir }

func (b bitwise) Load(r store.Result) (any, error) {
	refs, err := Outputs(r)
	if err != nil {
		return nil, err
	}
	sums := make(map[string][sha256.Size]byte)
	for _, ref := range refs {
		sum, err := b.sum(ref.FileName)
		switch {
		case errors.Is(err, fs.ErrNotExist) && ref.Optional:
			continue
		case errors.Is(err, fs.ErrNotExist):
			// A host that gave up an upload reports success all the same, so this
			// is the place where it is noticed.
			return nil, fmt.Errorf("%w: output file %s never arrived", ErrOutput, ref.FileName)
		case err != nil:
			return nil, err
		}
		if !ref.NoValidate {
			sums[ref.Logical()] = sum
		}
	}
	return sums, nil
}

func (b bitwise) sum(name string) (sum [sha256.Size]byte, err error) {
	f, err := b.files.Open(name)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

func (bitwise) Match(x, y any) bool {
	return maps.Equal(x.(map[string][sha256.Size]byte), y.(map[string][sha256.Size]byte))
}

// trivial takes every output as valid that is there.
type trivial struct{ files *blob.Dir }

func (t trivial) Load(r store.Result) (any, error) {
	refs, err := Outputs(r)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		_, err := t.files.Size(ref.FileName)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !ref.Optional:
			return nil, fmt.Errorf("%w: output file %s never arrived", ErrOutput, ref.FileName)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return nil, nil
}

func (trivial) Match(_, _ any) bool { return true }

// Outputs returns the output files that a result was to upload.
func Outputs(r store.Result) ([]protocol.FileRef, error) {
	e, err := protocol.ParseElements([]byte(r.XMLDocIn))
	if err != nil {
		return nil, fmt.Errorf("result %s: %w", r.Name, err)
	}
	if len(e.Results) != 1 {
		return nil, fmt.Errorf("result %s: its description holds %d results", r.Name, len(e.Results))
	}
	return e.Results[0].FileRefs, nil
}
