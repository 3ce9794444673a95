package image

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/starling-grid/starling/protocol"
)

// checked is the content of a layer, which it counts and verifies.
type checked struct {
	io.ReadCloser
	layer *protocol.ImageLayer
	sum   hash.Hash
	n     int64
	most  int64
}

func newChecked(r io.ReadCloser, l *protocol.ImageLayer, most int64) *checked {
	return &checked{r, l, sha256.New(), 0, most}
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	_, _ = c.sum.Write(p[:n])
	if c.n += int64(n); c.n > c.most {
		return n, fmt.Errorf("the image has more than %d GB unpacked, which volunteers' computers refuse", int64(protocol.MaxImageBytes)>>30)
	}
	switch {
	case errors.Is(err, io.EOF):
		if got := hex.EncodeToString(c.sum.Sum(nil)); got != c.layer.DiffID {
			return n, fmt.Errorf("layer %s: its content has the SHA-256 %s", c.layer.DiffID, got)
		}
		c.layer.NBytes = c.n
	case err != nil:
		return n, fmt.Errorf("layer %s: %w", c.layer.DiffID, err)
	}
	return n, err
}
