package workgen

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
)

// pack puts a compressed copy of an input file next to it, as NAME.gz, and records this in its
// description, if the copy is smaller. An existing copy is used as it is.
//
// Different from BOINC, whose operators make the copies themselves.
func (g *Generator) pack(ctx context.Context, info *protocol.FileInfo) error {
	n, known := g.packed[info.Name]
	if !known {
		var err error
		if n, err = packedSize(ctx, g.download, *info); errors.Is(err, fs.ErrNotExist) {
			if n, err = compress(ctx, g.download, info.Name); err == nil && n >= info.NBytes {
				err = g.download.Remove(ctx, blob.Packed(info.Name))
			}
		}
		if err != nil {
			return fmt.Errorf("compress input file %s: %w", info.Name, err)
		}
		if n >= info.NBytes {
			n = 0
		}
		g.packed[info.Name] = n
	}
	info.GzippedNBytes = n
	return nil
}

// packedSize returns the size of the existing compressed copy of a file. It returns fs.ErrNotExist
// if there is none, and another error if it is a copy of something else.
func packedSize(ctx context.Context, d Files, info protocol.FileInfo) (int64, error) {
	f, err := d.Open(ctx, blob.Packed(info.Name))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err == nil {
		var is blob.Info
		is, err = blob.SumReader(io.LimitReader(z, info.NBytes+1))
		if err == nil && is != (blob.Info{NBytes: info.NBytes, MD5: info.MD5}) {
			err = errors.New("it holds something else")
		}
	}
	if err != nil {
		return 0, fmt.Errorf("the file %s is there and is not a compressed copy (%w)", blob.Packed(info.Name), err)
	}
	return f.NBytes, nil
}

// compress makes the compressed copy of a file, which is the same whenever it is made, and
// returns its size.
func compress(ctx context.Context, d Files, name string) (int64, error) {
	f, err := d.Open(ctx, name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		z := gzip.NewWriter(w)
		_, err := io.Copy(z, f)
		w.CloseWithError(errors.Join(err, z.Close()))
	}()
	info, err := d.Put(ctx, blob.Packed(name), r)
	_ = r.CloseWithError(err) // so that the other end stops
	<-done
	return info.NBytes, err
}
