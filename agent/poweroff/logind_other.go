//go:build !linux

package poweroff

import (
	"context"
	"log/slog"
)

// Context returns parent: this system does not delay a shutdown.
func Context(parent context.Context, _ *slog.Logger) (ctx context.Context, release func()) {
	return parent, func() {}
}
