package validator

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
)

// A Comparator looks at the output of results.
type Comparator interface {
	// Load reads the output of a result. ErrOutput means that the output is not acceptable and
	// never will be. With ErrSuspicious, it also returns the output. After any other error it is tried again.
	Load(ctx context.Context, r store.Result) (any, error)
	// Match reports whether two outputs are equivalent.
	Match(a, b any) bool
}

// ErrOutput marks output that cannot be valid, such as a missing file.
var ErrOutput = errors.New("bad output")

// ErrSuspicious marks output that is not trusted, whichever other results agree with it: only a
// result of a trusted account decides about the workunit.
var ErrSuspicious = errors.New("suspicious output")

// bitwise takes outputs as equivalent if each file is, byte for byte.
type bitwise struct{ files Files }

func (b bitwise) Load(ctx context.Context, r store.Result) (any, error) {
	sums := make(map[string][sha256.Size]byte)
	err := eachOutput(r, func(ref protocol.FileRef) error {
		sum, err := b.sum(ctx, ref.FileName)
		if err == nil && !ref.NoValidate {
			sums[ref.Logical()] = sum
		}
		return err
	})
	return sums, err
}

func (b bitwise) sum(ctx context.Context, name string) (sum [sha256.Size]byte, err error) {
	f, err := b.files.Open(ctx, name)
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
type trivial struct{ files Files }

func (t trivial) Load(ctx context.Context, r store.Result) (any, error) {
	return nil, arrived(ctx, r, t.files)
}

// arrived returns ErrOutput if a file that a result must have put out is not
// there.
func arrived(ctx context.Context, r store.Result, files hook.Files) error {
	return eachOutput(r, func(ref protocol.FileRef) error {
		_, err := files.Size(ctx, ref.FileName)
		return err
	})
}

// eachOutput calls look for the output files of a result. It returns ErrOutput for one that is missing, unless it is
// optional.
func eachOutput(r store.Result, look func(ref protocol.FileRef) error) error {
	refs, err := hook.Outputs(r)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		switch err := look(ref); {
		case errors.Is(err, fs.ErrNotExist) && !ref.Optional:
			// A host that gave up an upload reports success all the same, so this
			// is the place where it is noticed.
			return fmt.Errorf("%w: output file %s never arrived", ErrOutput, ref.FileName)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return nil
}

func (trivial) Match(_, _ any) bool { return true }
