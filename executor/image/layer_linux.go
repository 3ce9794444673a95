package image

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/starling-grid/starling/protocol"
)

// maxPath is the maximum length of a path in an image. The kernel has the same limit.
const maxPath = 4095

// Names with a meaning in layers.
//
// Source: OCI image specification, layer.md, "Whiteouts".
const (
	whiteout = ".wh."         // before the name of a file of lower layers that is removed
	opaque   = ".wh..wh..opq" // removes all files of lower layers from its folder
	reserved = ".wh..wh."     // of other file systems
)

// broken returns an error that is the image's fault.
func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrBroken, fmt.Errorf(format, args...))
}

// A removal is a whiteout: the path of a file, or of a folder whose files are removed.
type removal struct {
	path   string
	opaque bool
}

// read calls each for the entries of a layer, with their cleaned paths, and verifies its checksum
// and size at the end.
func read(ctx context.Context, l protocol.ImageLayer, open Layers, each func(name string, h *tar.Header, content io.Reader) error) error {
	f, err := open(l.FileName())
	if err != nil {
		return err
	}
	defer f.Close()
	err = entries(ctx, f, l, each)
	if err != nil {
		return fmt.Errorf("layer %s: %w", l.DiffID, err)
	}
	return nil
}

func entries(ctx context.Context, f *os.File, l protocol.ImageLayer, each func(name string, h *tar.Header, content io.Reader) error) error {
	z, err := gzip.NewReader(bufio.NewReaderSize(until{ctx, f}, 1<<16))
	if err != nil {
		return archiveError(ctx, err)
	}
	sum := sha256.New()
	content := io.TeeReader(io.LimitReader(z, l.NBytes+1), sum) // a byte more than allowed changes the sum
	archive := tar.NewReader(content)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return archiveError(ctx, err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		name, err := clean(h.Name)
		if err == nil {
			err = each(name, h, archive)
		}
		if err != nil {
			return fmt.Errorf("%.300q: %w", h.Name, err)
		}
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return archiveError(ctx, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != l.DiffID {
		return broken("its content has the SHA-256 %s", got)
	}
	return nil
}

// until is a reader that ends when its context does.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// archiveError distinguishes an archive that is wrong from one that cannot be read now.
func archiveError(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*os.PathError](err); ok || ctx.Err() != nil {
		return err
	}
	return broken("it is not a complete archive: %w", err)
}

// clean returns a path relative to the root of the image. Links in it are not followed here.
func clean(name string) (string, error) {
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", broken("the name leads out of the image")
		}
	}
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	switch {
	case len(name) > maxPath:
		return "", broken("the name has %d bytes, at most %d are allowed", len(name), maxPath)
	case strings.Count(name, "/") > protocol.MaxImageDepth:
		return "", broken("it is in more than %d folders", protocol.MaxImageDepth)
	}
	return name, nil
}

// A survey has the properties of a layer that are needed before it is unpacked.
type survey struct {
	removals []removal
	entries  int
	bytes    int64 // of all files
}

// errTooMany means that a layer has more entries than are left.
var errTooMany = errors.New("too many files")

// surveyOf reads a layer without unpacking it.
func surveyOf(ctx context.Context, l protocol.ImageLayer, open Layers, left int) (s survey, err error) {
	err = read(ctx, l, open, func(name string, h *tar.Header, _ io.Reader) error {
		if s.entries++; s.entries > left {
			return errTooMany
		}
		if h.Typeflag == tar.TypeReg {
			// Sparse files may be larger than the archive.
			if h.Size < 0 || h.Size > l.NBytes-s.bytes {
				return broken("the files are larger than their layer")
			}
			s.bytes += h.Size
		}
		r, ok, err := removalOf(name)
		if ok {
			s.removals = append(s.removals, r)
		}
		return err
	})
	return s, err
}

// removalOf returns the meaning of a whiteout's name.
func removalOf(name string) (r removal, ok bool, err error) {
	dir, base := path.Split(name)
	rest, ok := strings.CutPrefix(base, whiteout)
	switch {
	case !ok:
		return removal{}, false, nil
	case base == opaque:
		return removal{path.Clean("/" + dir), true}, true, nil
	case strings.HasPrefix(base, reserved):
		return removal{}, false, nil
	case rest == "" || rest == "." || rest == "..":
		return removal{}, false, broken("it removes a file outside of its folder")
	}
	return removal{path.Clean("/" + dir + rest), false}, true, nil
}

// isWhiteout reports whether a name has a meaning other than a file's.
func isWhiteout(name string) bool { return strings.HasPrefix(path.Base(name), whiteout) }
