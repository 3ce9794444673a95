package image

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/starling-grid/starling/protocol"
)

// A compression is a way in which an archive may be compressed.
type compression struct {
	name  string
	magic string // with which its files begin
	tool  string // that unpacks it
	open  func(io.Reader) (io.Reader, error)
}

var compressions = []compression{
	{"gzip", "\x1f\x8b", "gunzip", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"zstd", "\x28\xb5\x2f\xfd", "unzstd", func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(512<<20))
	}},
	{"bzip2", "BZh", "bunzip2", func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
	{"xz", "\xfd7zXZ\x00", "unxz", nil},
	{"lz4", "\x04\x22\x4d\x18", "unlz4", nil},
}

// plain returns the path of an archive, or of an uncompressed copy if it is compressed. clean removes the
// copy.
func plain(file string) (_ string, clean func(), err error) {
	clean = func() {}
	in, err := os.Open(file)
	if err != nil {
		return "", clean, err
	}
	defer in.Close()
	head := make([]byte, 8)
	n, err := in.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", clean, err
	}
	for _, c := range compressions {
		if !bytes.HasPrefix(head[:n], []byte(c.magic)) {
			continue
		}
		if c.open == nil {
			return "", clean, fmt.Errorf("it is compressed with %s: unpack it with %s first", c.name, c.tool)
		}
		path, err := c.unpack(in)
		if err != nil {
			return "", clean, err
		}
		return path, func() { _ = os.Remove(path) }, nil
	}
	return file, clean, nil
}

// unpack writes the content of a compressed file to a temporary one.
func (c compression) unpack(in io.Reader) (path string, err error) {
	const most = protocol.MaxImageBytes + 64<<20 // with headers and descriptions
	r, err := c.open(in)
	if err != nil {
		return "", fmt.Errorf("decompress it (%s): %w", c.name, err)
	}
	if z, ok := r.(*zstd.Decoder); ok {
		defer z.Close()
	}
	out, err := os.CreateTemp("", "starling-image-*.tar")
	if err != nil {
		return "", err
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			_ = os.Remove(out.Name())
		}
	}()
	n, err := io.Copy(out, io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("decompress it (%s): %w", c.name, err)
	case n > most:
		return "", fmt.Errorf("it has more than %d GB unpacked", int64(protocol.MaxImageBytes)>>30)
	}
	return out.Name(), nil
}
