//go:build !linux

package image

import (
	"context"
	"errors"

	"github.com/starling-grid/starling/protocol"
)

func unpack(context.Context, string, protocol.Image, int, Layers) error {
	return errors.New("images run on Linux only")
}
